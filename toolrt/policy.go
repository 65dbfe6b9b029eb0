package toolrt

import "time"

// Policy holds the limits of the runtime. The zero value of a field takes the default named with
// it; [Policy.WithDefaults] fills them in. Values are read once per batch.
type Policy struct {
	// MaxConcurrency is how many parallel calls run at once per workspace. Zero and negative
	// values act as 1 (R18); [DefaultPolicy] has 4.
	MaxConcurrency int
	// Timeout bounds an ordinary tool: 2 minutes.
	Timeout time.Duration
	// LongTimeout bounds a long-running tool: 10 minutes.
	LongTimeout time.Duration
	// CommandTimeout bounds a "#!" command: 30 minutes.
	CommandTimeout time.Duration
	// DetachAtLimit moves a command that can go on by itself to the background at its time limit. By
	// default it is stopped.
	DetachAtLimit bool
	// Sandbox is how commands are confined that a rule or the mode let through; without a profile it
	// is ProfileWrite.
	Sandbox Sandbox
	// SandboxAll confines commands that a person allowed by key too.
	SandboxAll bool
	// KeepJobs lets commands in the background go on when the runtime is closed. By default they
	// are ended.
	KeepJobs bool
	// CancelGrace is how long a cancelled tool may take to return before it is abandoned: 2 s.
	CancelGrace time.Duration
	// StopOnFailure stops a batch at its first failure (R44). The default continues (R43).
	StopOnFailure bool
	// CancelOnStop cancels running calls when a batch stops; by default they finish.
	CancelOnStop bool
	// ConcurrentFirst runs all parallel calls of a batch before the exclusive ones, as the seed
	// does. The default keeps the order (R16).
	ConcurrentFirst bool
	// Sequential runs one call after the other, whatever their flags.
	Sequential bool
	// MaxCalls is how many calls of one reply run, 64; the rest is skipped.
	MaxCalls int
	// MaxArgumentBytes bounds the arguments of one call: 1 MiB.
	MaxArgumentBytes int
	// MaxArgumentDepth bounds their nesting: 64.
	MaxArgumentDepth int
	// MaxAbandoned is how many abandoned calls may be alive: 8.
	MaxAbandoned int
	// MaxOutputLines and MaxOutputBytes bound what the model reads of one result: 2,000 lines and
	// 51,200 bytes, or more where the model's window is large. Negative means no limit.
	MaxOutputLines int
	MaxOutputBytes int
	// MaxErrorBytes bounds error texts: 4 KiB.
	MaxErrorBytes int
	// MaxBatchBytes bounds all results of a batch together: 200 KiB.
	MaxBatchBytes int
	// HeadShare is the share of the line budget kept from the start: 0.5.
	HeadShare float64
	// MaxSavedBytes caps the file of one whole output: 32 MiB.
	MaxSavedBytes int64
	// MaxWholeBytes bounds results that must be passed whole (contexts, filters, credentials and
	// the program's own result): 16 MiB.
	MaxWholeBytes int
}

// The default limits of results. They grow with the window of the model that reads them, unless
// they are set otherwise.
const (
	defaultOutputLines = 2000
	defaultOutputBytes = 50 << 10
	defaultBatchBytes  = 200 << 10
)

// DefaultPolicy returns the policy of a program that sets nothing.
func DefaultPolicy() Policy {
	return Policy{MaxConcurrency: 4}.WithDefaults()
}

// WithDefaults returns p with zero fields replaced by the defaults.
func (p Policy) WithDefaults() Policy {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	dur := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	p.MaxConcurrency = max(p.MaxConcurrency, 1)
	dur(&p.Timeout, 2*time.Minute)
	dur(&p.LongTimeout, 10*time.Minute)
	dur(&p.CommandTimeout, 30*time.Minute)
	dur(&p.CancelGrace, 2*time.Second)
	def(&p.MaxCalls, 64)
	def(&p.MaxArgumentBytes, 1<<20)
	def(&p.MaxArgumentDepth, 64)
	def(&p.MaxAbandoned, 8)
	def(&p.MaxOutputLines, defaultOutputLines)
	def(&p.MaxOutputBytes, defaultOutputBytes)
	def(&p.MaxErrorBytes, 4<<10)
	def(&p.MaxBatchBytes, defaultBatchBytes)
	if p.HeadShare == 0 {
		p.HeadShare = 0.5
	}
	if p.MaxSavedBytes == 0 {
		p.MaxSavedBytes = 32 << 20
	}
	def(&p.MaxWholeBytes, 16<<20)
	if p.Sandbox.Profile == "" {
		p.Sandbox.Profile = ProfileWrite
	}
	return p
}

// Package credential keeps the secrets that tools and providers need, and hides them from
// everything that is shown, stored or sent.
//
// [Open] gives the store of the process: the system's keyring, or, when there is none, a file
// encrypted with a passphrase, or else memory. It never writes a secret in clear, and touches the
// keyring only when a credential is first asked for, so that a program whose keys come from the
// environment starts without it. Which store holds is told in one line when it is another than
// said at the start.
//
// [Keys] finds a provider's API key: from the environment, else from the store.
// [ParseOverrides] reads --credential-override. A [Redactor] replaces every value it was given,
// in the forms in which it usually appears, by ‹secret:NAME›.
//
// Credentials are kept by name and context (5.10). Contexts are looked up in order, the first is
// the one written to; no context means "default", and "*" is all of them, for listing only.
package credential

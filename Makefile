# Every target works on a fresh machine that has Go, make and git; nothing is installed by hand.

GO      ?= go
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
LDFLAGS := -s -w -X parley/ui/cli.version=$(VERSION)
# The race detector needs a C compiler. SQLite itself is C made into Go, with locks and memory of its own that the
# detector cannot judge: watching it finds nothing and makes the store's tests three times as long. At its end a watched
# program waits a second for late reports; the scripts start hundreds of them, and each waits for its goroutines itself.
RACE    := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && [ "$$($(GO) env CGO_ENABLED)" = 1 ] && \
	echo "-race -gcflags=modernc.org/sqlite/lib=-race=false")

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build ./parley
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o parley .

.PHONY: run
run: ## Open the chat
	$(GO) run .

.PHONY: test
test: ## Run every test, with the race detector where there is a C compiler
	@[ -n "$(RACE)" ] || echo "no C compiler: the race detector is left out"
	$(GO) vet ./...
	GORACE=atexit_sleep_ms=0 $(GO) test $(RACE) -timeout 30m ./...

.PHONY: script
script: ## Run the scripts in testdata/script against the program
	$(GO) test -count=1 -run 'TestScript' ./ui/cli

.PHONY: screen
screen: ## Rewrite the golden screens in testdata/screen (read the diff before you commit it)
	$(GO) test -count=1 ./ui/tui -run 'TestScreens|TestViews' -update

.PHONY: crash
crash: ## Kill a running turn at 200 points, go on each time, and count what was lost
	PARLEY_CRASH=200 $(GO) test -count=1 -timeout 30m -v -run 'TestCrash$$' ./ui/cli

.PHONY: fuzz
fuzz: ## Run every fuzz target for 30 s
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 30s -fuzzminimizetime 1x $$pkg || exit 1; \
	  done; \
	done

.PHONY: bench
bench: ## Print each cost next to its floor
	@cd ui/cli && PARLEY_BENCH=1 $(GO) test -count=1 -timeout 15m -run '^TestBench$$'

.PHONY: cross
cross: ## Build for the other systems
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build -o /dev/null .
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) build -o /dev/null .
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) build -o /dev/null .

.PHONY: lint
lint: ## Check formatting and run go vet for every system
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...

.PHONY: fmt
fmt: ## Format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: check
check: lint test ## What a commit needs

.PHONY: clean
clean: ## Remove what was built
	rm -f parley

.PHONY: picture
picture: ## Draw docs/screen.svg from the real program (needs tmux)
	docs/screen.sh

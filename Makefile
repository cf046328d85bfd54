# Every target that a person calls has a `## help` comment; `make` lists them.

GO       ?= go
TOOL     := $(GO) tool -modfile=tools/go.mod
FUZZTIME ?= 10s
BENCH    ?= .

# Folders that are modules of their own beside the main one, tools apart.
MODULES  := $(patsubst %/go.mod,%,$(wildcard bench/go.mod))

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/headcount.
	$(GO) build -trimpath -o bin/headcount ./cmd/headcount

.PHONY: run
run: ## Run the server, everything embedded, on :8080.
	$(GO) run ./cmd/headcount serve

.PHONY: test
test: needs ## Run every test: with the race detector, the services and the other modules.
	HEADCOUNT_TEST_SERVICES=1 $(GO) test -race -shuffle=on -timeout 12m ./...
	@set -e; for m in $(MODULES); do echo "$$m:"; (cd $$m && $(GO) vet ./... && $(GO) test ./...); done

.PHONY: quick
quick: ## Run the tests that need nothing but Go.
	$(GO) test ./...

.PHONY: needs
needs: ## Install what the tests start, where it is missing.
	tools/need nginx haproxy redis-server

.PHONY: cover
cover: ## Write coverage.txt and print what the tests reach.
	$(GO) test -coverprofile=coverage.txt -coverpkg=./... ./...
	$(GO) tool cover -func=coverage.txt | tail -n 1

.PHONY: fuzz
fuzz: ## Fuzz each target for FUZZTIME (10s).
	tools/fuzz $(FUZZTIME)

.PHONY: bench
bench: ## Run the Go benchmarks; BENCH selects by name.
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: fmt
fmt: ## Format the Go files.
	gofmt -w $$(git ls-files '*.go')

.PHONY: format
format: ## Check the format without changing anything.
	@bad=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$bad" ]; then echo "not formatted; run make fmt:"; echo "$$bad"; exit 1; fi

.PHONY: vet
vet: ## Run go vet.
	$(GO) vet ./...

.PHONY: lint
lint: ## Run golangci-lint; the first time builds it, which takes minutes.
	$(TOOL) golangci-lint run ./...

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what the binary calls.
	tools/vuln

.PHONY: generate
generate: ## Run go generate.
	$(GO) generate ./...

.PHONY: check
check: format vet lint vuln test ## Run what CI runs.

.PHONY: clean
clean: ## Remove what the build made.
	rm -rf bin coverage.txt

# make run    serve the default branch
# make test   everything that must hold before a change lands; installs what it needs when run as root
# make help   the single steps

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
BUILD := .build
BUF_VERSION := 1.75.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
export PATH := $(CURDIR)/$(BUILD)/node_modules/.bin:$(PATH)
export CALLERD_SCREENSHOTS ?= $(CURDIR)/$(BUILD)/screenshots
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: run build test help deps format vet staticcheck generated race cpus ranks yields arm64 browser crash benchmarks picture bench bench-quick clean

run: ## serve the default branch
	go run ./cmd/callerd

build: ## stamped binaries in .build/bin
	go build -o $(BUILD)/bin/ -ldflags "-X main.stamped=$(VERSION)" ./cmd/callerd ./cmd/kiosk-sim

test: deps format vet staticcheck generated race cpus ranks yields arm64 browser crash benchmarks ## all of the below
	@test "$$(id -u)" = 0 || echo "not root: the tests that mount a file system were skipped (power cuts, full disks)"
	@echo "all checks passed"

deps: ## install what the checks need (as root), or say what is missing
	@bash docs/deps.sh $(BUILD) $(BUF_VERSION)

format: ## gofmt changes nothing
	@echo "== gofmt"; out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "gofmt would change:" $$out; exit 1; }

vet: ## go vet, for each architecture the lock knows and one it does not
	@for arch in amd64 arm64 riscv64; do echo "== go vet for $$arch"; GOARCH=$$arch CGO_ENABLED=0 go vet ./...; done
	@echo "== go vet under the tags"; go vet -tags lockrank,lockyield ./...

staticcheck: ## staticcheck
	@echo "== staticcheck"; go run $(STATICCHECK) ./...

generated: ## the generated code is what the proto files give, and buf finds nothing to say
	@echo "== buf lint"; buf lint; buf format --diff --exit-code
	@echo "== generated code is fresh"
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; buf generate -o "$$tmp"; \
	for f in $$(cd "$$tmp" && find . -name '*.pb.go'); do cmp "$$tmp/$$f" "$$f" || { echo "run: buf generate"; exit 1; }; done

# All but the page: that is driven by "make browser".
PACKAGES = $$(go list ./... | grep -v /web/display)

race: ## all tests but those of the page, under the race detector, with a shadow state beside every branch
	@echo "== go test -race"; CALLERD_VERIFY=1 go test -race $(PACKAGES)

cpus: ## the same on 1, 2 and 4 processors
	@echo "== go test -cpu 1,2,4"; CALLERD_VERIFY=1 go test -short -cpu 1,2,4 $(PACKAGES)

ranks: ## the same with the order of the locks checked
	@echo "== go test -tags lockrank"; CALLERD_VERIFY=1 go test -short -tags lockrank $(PACKAGES)

yields: ## the lock and the branch with yields between their atomic steps
	@echo "== go test -tags lockyield"; go test -short -race -tags lockrank,lockyield ./internal/arch ./internal/branch

arm64: ## the lock's tests as arm64 and riscv64 code under qemu-user
	@for a in arm64:aarch64 riscv64:riscv64; do echo "== lock tests, $${a%:*} under qemu"; \
	GOARCH=$${a%:*} CGO_ENABLED=0 go test -short -exec qemu-$${a#*:}-static ./internal/arch; done

browser: ## the page in headless Chromium, driven against a real daemon; its pictures are left in .build/screenshots
	@echo "== the page in Chromium"; mkdir -p "$$CALLERD_SCREENSHOTS"; CALLERD_REQUIRE_BROWSER=1 go test -count=1 ./web/display

crash: ## kill -9, power cuts and a full disk, a short round of each
	@echo "== crashes"; CALLERD_VERIFY=1 go test -count=1 -v -run 'Crash|Kill|Power|NoSpace|Disk' ./cmd/callerd ./internal/journal 2>&1 | grep -vE '^=== (RUN|PAUSE|CONT)'

benchmarks: bench-quick ## each benchmark once: it builds and works, and no figure of it counts
	@echo "== benchmarks, once each"; go test -run '^$$' -bench . -benchtime 1x $(PACKAGES) | grep -v 'no test files'

picture: browser ## take the README's picture from the browser test
	cp $(BUILD)/screenshots/hall-1920x1080.png docs/hall.png

bench: ## callerd beside the limits of the machine and beside its peers, under 15 minutes; bench/README.md says what each row is
	cd bench && go run .

bench-quick: ## the same, everything once and small: builds and works; no figure of it counts
	cd bench && go vet ./... && go test ./... && go run . --quick --results $(CURDIR)/$(BUILD)/bench --plots $(CURDIR)/$(BUILD)/bench

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:[^#]*## /\t/' | expand -t 14

clean: ## remove what the above left
	rm -rf $(BUILD)

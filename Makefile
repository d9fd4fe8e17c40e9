# SPDX-License-Identifier: Apache-2.0
# The door to the project; `make help` lists what is behind it. The build itself is meson's.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
# make's own default for CC is "cc"; only a choice somebody made counts.
ifeq ($(origin CC),default)
CC := gcc
endif

# bpftool lives in /usr/sbin, which is not on everybody's path.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
export LC_ALL := C.UTF-8

# $(call configure,DIRECTORY,COMPILER,OPTIONS): once; after that ninja notices changes by itself.
define configure
	@test -f $(1)/build.ninja || { rm -rf $(1) && CC=$(2) meson setup $(1) $(3); }
endef

# A sanitizer that reports and goes on would let a test pass.
ASAN := -Dwerror=true -Db_sanitize=address,undefined -Dc_args=-fno-sanitize-recover=all
FUZZ := -Dfuzz=true -Db_lundef=false -Db_sanitize=address,undefined \
	-Dc_args='-fno-sanitize-recover=all -fsanitize=fuzzer-no-link'

.PHONY: all build demo check check-builds check-fuzz check-matrix bench install format clean help \
	setup-build setup-check setup-fuzz setup-matrix setup-bench

all: build

build: setup-build ## build build/wick (the same as plain "make")
	@echo "== building build/wick"
	$(call configure,build/release,$(CC),-Dtests=false --prefix=$(PREFIX))
	@ninja -C build/release
	@ln -sfn release/wick build/wick

demo: build ## record a small program, end with its flame graph
	@demo/run

check: build setup-check check-builds ## build everything three ways and run every test
	@echo "== running the tests"
	@python3 tests/run.py

check-builds: setup-check
	@echo "== building with gcc and sanitizers, warnings are errors"
	$(call configure,build/asan,gcc,$(ASAN))
	@ninja -C build/asan
	@echo "== building with clang, warnings are errors"
	$(call configure,build/clang,clang,-Dwerror=true)
	@ninja -C build/clang

check-fuzz: setup-fuzz ## let libFuzzer work on every parser, FUZZ_SECONDS=60 each
	@echo "== building the fuzzers"
	$(call configure,build/fuzz,clang,$(FUZZ))
	@ninja -C build/fuzz
	@python3 tests/fuzz/run.py --seconds $(FUZZ_SECONDS)

check-matrix: build setup-matrix ## run wick on the kernels of Debian, in emulated machines
	@tests/matrix/kernels/run

bench: build setup-bench ## measure wick against its peers
	@echo "== measuring"
	@python3 bench/run.py

install: build ## install below PREFIX=/usr/local (and DESTDIR)
	@echo "== installing below $(DESTDIR)$(PREFIX)"
	@meson configure build/release --prefix=$(PREFIX)
	@ninja -C build/release
	@DESTDIR="$(DESTDIR)" meson install -C build/release --no-rebuild

format: ## put all C files into the project's layout
	@echo "== clang-format"
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

clean: ## remove everything that was built
	@echo "== removing build/"
	@rm -rf build

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | \
		while IFS='	' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

setup-build:
	@tools/setup build

setup-check: setup-build
	@tools/setup check

setup-fuzz: setup-build
	@tools/setup fuzz

setup-matrix: setup-build
	@tools/setup matrix

setup-bench: setup-build
	@tools/setup bench

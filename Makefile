# Every target sets up what it needs on a Debian-like machine.
.PHONY: help demo test bench lint fmt install clean

help:
	@echo "make demo    show the engine at work"
	@echo "make test    set up this machine and run every check"
	@echo "make bench   measure appending, reading, flushing and recovery"
	@echo "make lint    formatting and lints alone"
	@echo "make fmt     format the source"
	@echo "make install PREFIX=/usr/local    header and libraries for C and C++"
	@echo "make clean   remove everything that was built"

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

test:
	@scripts/test.sh

bench:
	@scripts/setup.sh demo
	@scripts/bench.sh

lint:
	@scripts/setup.sh build
	@scripts/test.sh lint

fmt:
	@cargo fmt --all

PREFIX ?= /usr/local
install:
	@packaging/install.sh "$(PREFIX)"

clean:
	@cargo clean
	@rm -rf tests/interop/target

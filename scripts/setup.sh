#!/usr/bin/env bash
# Sets up what the project needs on a Debian-like machine, and only what is missing.
#
#   scripts/setup.sh build    a C toolchain and Rust
#   scripts/setup.sh demo     also Python and Node.js
#   scripts/setup.sh test     also Java and Maven (RocketMQ's own store), mkfs, tools that watch memory
#
# Fails only where building is impossible. What is missing for the rest is named, and the tests that
# need it are counted as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
purpose=${1:-test}
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH:/usr/sbin:/sbin"

have() { command -v "$1" >/dev/null 2>&1; }

# A JDK of Java 17 or later; a runtime alone cannot compile the oracle.
have_jdk() {
    have javac && [ "$(javac -version 2>&1 | sed -E 's/^javac ([0-9]+).*/\1/')" -ge 17 ]
}

needed=()
have cc && have make || needed+=(build-essential)
have git || needed+=(git)
have cargo || have rustup || have curl || needed+=(curl ca-certificates)
if [ "$purpose" != build ]; then
    have python3 && python3 -c 'import ensurepip, venv' || needed+=(python3 python3-venv)
    have node && have npm || needed+=(nodejs npm)
fi
if [ "$purpose" = test ]; then
    have mkfs.ext4 || needed+=(e2fsprogs)
    have losetup && have mount || needed+=(util-linux mount)
    # The C interface, in other compilers and under tools that watch memory.
    have clang++ || needed+=(clang libclang-rt-14-dev)
    have valgrind || needed+=(valgrind)
    have cmake || needed+=(cmake)
    have pkg-config || needed+=(pkg-config)
    [ -e /usr/include/cjson/cJSON.h ] || needed+=(libcjson-dev)
    have_jdk || needed+=(default-jdk-headless)
    have mvn || needed+=(maven)
fi

install_packages() {
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        have sudo && sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    have apt-get || return 1
    echo "setup: installing ${needed[*]}"
    "${as_root[@]}" apt-get update -qq </dev/null &&
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" \
            apt-get install -y -qq --no-install-recommends "${needed[@]}" </dev/null >/dev/null
}

if [ ${#needed[@]} -gt 0 ] && ! install_packages; then
    echo "setup: could not install; as root: apt-get install ${needed[*]}"
fi

if ! have cargo; then
    echo "setup: installing Rust through rustup"
    if ! have curl || ! curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
        sh -s -- -y -q --profile minimal --default-toolchain none --no-modify-path; then
        echo "setup: no Rust; install it from https://rustup.rs and try again" >&2
        exit 1
    fi
fi

# rust-toolchain.toml pins the compiler; rustup fetches it if it is not there yet.
toolchain=$(sed -nE 's/^channel = "(.*)"/\1/p' rust-toolchain.toml)
if have rustup && ! rustup toolchain list | grep -q "^$toolchain-"; then
    echo "setup: fetching Rust $toolchain"
    rustup toolchain install "$toolchain" --profile minimal -c rustfmt -c clippy
fi

if ! have cc || ! cargo --version >/dev/null; then
    echo "setup: building needs a C compiler and cargo" >&2
    exit 1
fi

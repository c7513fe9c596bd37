#!/usr/bin/env bash
# Measures the engine and prints a table; the figures also go to target/bench.json.
#
#   scripts/bench.sh              everything: some six minutes, up to 12 GiB of disk
#   scripts/bench.sh NAME...      only these figures, e.g. append_128 reopen_killed_4g
#
# BENCH_DIR    where the data goes, on the disk to be measured (target/bench by default)
# BENCH_QUICK  set to 1: tiny sizes, to see that everything runs; the figures mean nothing
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
cargo build --quiet --release --locked -p spanlog-benches
exec "${CARGO_TARGET_DIR:-target}/release/spanlog-benches" "$@"

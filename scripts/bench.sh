#!/usr/bin/env bash
# Measures the engine and prints a table; the figures also go to target/bench.json.
#
#   scripts/bench.sh              everything: some ten minutes, up to 12 GiB of disk
#   scripts/bench.sh NAME...      only these figures, e.g. append_128 python_append_1k
#
# BENCH_DIR    where the data goes, on the disk to be measured (target/bench by default)
# BENCH_QUICK  set to 1: tiny sizes, to see that everything runs; the figures mean nothing
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
engine=()
python=()
node=()
for name in "$@"; do
    case $name in
    python_*) python+=("$name") ;;
    node_*) node+=("$name") ;;
    *) engine+=("$name") ;;
    esac
done

# wanted COUNT: whether there is something to measure of so many names, or of all.
all=$#
wanted() { [ "$all" -eq 0 ] || [ "$1" -gt 0 ]; }

if wanted ${#engine[@]}; then
    cargo build --quiet --release --locked -p spanlog-benches -p spanlog-ffi
    "${CARGO_TARGET_DIR:-target}/release/spanlog-benches" ${engine[@]+"${engine[@]}"}
fi
if ! wanted ${#python[@]}; then
    :
elif python3 -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    scripts/bench-python.sh ${python[@]+"${python[@]}"}
else
    echo "skipped: figures of Python, there is no Python 3.11 with venv"
fi
if ! wanted ${#node[@]}; then
    :
elif scripts/pack-node.sh --check; then
    scripts/bench-node.sh ${node[@]+"${node[@]}"}
else
    echo "skipped: figures of Node.js, there is no Node.js 20.17 with npm"
fi

#!/usr/bin/env bash
# Measures the Node.js package beside lmdb-js, and adds the figures to target/bench.json.
#
#   scripts/bench-node.sh           every figure
#   scripts/bench-node.sh NAME...   these alone
#
# BENCH_DIR, BENCH_JSON and BENCH_QUICK as for scripts/bench.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/node-bench
scripts/pack-node.sh "$folder"
exec node bindings-node/bench/bench.js "$folder" "$@"

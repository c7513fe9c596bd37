#!/usr/bin/env bash
# Measures the Python package beside python-lmdb, and adds the figures to target/bench.json.
#
#   scripts/bench-python.sh           every figure
#   scripts/bench-python.sh NAME...   these alone
#
# BENCH_DIR, BENCH_JSON and BENCH_QUICK as for scripts/bench.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/python.sh
wheel
fresh bench python3 "$built"/dist/spanlog-*.whl
exec "$built/bench/bin/python" bindings-python/benches/bench.py "$@"

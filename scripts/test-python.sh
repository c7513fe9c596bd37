#!/usr/bin/env bash
# Builds the Python package, installs it into fresh environments, and tests what was installed:
# the wheel with everything, the source distribution and other Pythons with the main calls. Ends
# each run with pytest's closing line; exits with 1 if anything failed.
#
#   scripts/test-python.sh            all of it
#   scripts/test-python.sh ARGS...    the wheel alone, with these arguments for pytest
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/python.sh

status=0
# run NAME ARGS...: pytest in an environment.
run() {
    local python=$built/$1/bin/python
    shift
    (cd bindings-python && "$python" -m pytest -rs "$@") || status=1
}

wheel
cargo build --quiet --locked -p spanlog-cli
export SPANLOG_COMMAND=$CARGO_TARGET_DIR/debug/spanlog

fresh wheel python3 "$built"/dist/spanlog-*.whl
run wheel "$@"
[ $# -eq 0 ] || exit "$status"

main=(tests/test_store.py tests/test_buffers.py tests/test_errors.py)
(cd bindings-python && maturin sdist --out "$built/dist")
echo "the source distribution:"
fresh sdist python3 "$built"/dist/spanlog-*.tar.gz
run sdist "${main[@]}"
for version in 3.12 3.13 3.14; do
    "python$version" -c '' 2>/dev/null || continue
    echo "Python $version:"
    fresh "$version" "python$version" "$built"/dist/spanlog-*.whl
    run "$version" "${main[@]}"
done
exit "$status"

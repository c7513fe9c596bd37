#!/usr/bin/env bash
# Builds the Python package, installs it into fresh environments, and tests what was installed:
# the wheel with everything, the source distribution and other Pythons with the main calls. Ends
# each run with pytest's closing line; exits with 1 if anything failed.
#
#   scripts/test-python.sh            all of it
#   scripts/test-python.sh ARGS...    the wheel alone, with these arguments for pytest
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
mkdir -p "${CARGO_TARGET_DIR:-target}/python"
CARGO_TARGET_DIR=$(realpath "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
built=$CARGO_TARGET_DIR/python
tools=$(scripts/setup-python.sh)
PATH=$tools/bin:$PATH

# fresh NAME PYTHON PACKAGE: an environment with the package installed, which also sees the tools
# behind what is its own.
fresh() {
    local home=$built/$1
    rm -rf "$home"
    "$2" -m venv "$home"
    echo "$tools"/lib/python3*/site-packages >"$(echo "$home"/lib/python3*/site-packages)/tools.pth"
    "$home/bin/pip" install --quiet --no-deps --no-build-isolation "$3"
}

status=0
# run NAME ARGS...: pytest in an environment.
run() {
    local python=$built/$1/bin/python
    shift
    (cd bindings-python && "$python" -m pytest -rs "$@") || status=1
}

rm -rf "$built/dist"
(cd bindings-python && maturin build --quiet --release --locked --out "$built/dist")
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

#!/usr/bin/env bash
# Sets up what building and testing the Python package take, in an environment under the target
# folder, and prints where that is. What is there already is kept while the list of packages is
# the same.
set -euo pipefail
cd "$(dirname "$0")/.."
list=bindings-python/tests/requirements.txt
mkdir -p "${CARGO_TARGET_DIR:-target}/python"
tools=$(realpath "${CARGO_TARGET_DIR:-target}")/python/tools
if ! cmp -s "$list" "$tools/installed.txt"; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --requirement "$list" >&2
    cp "$list" "$tools/installed.txt"
fi
echo "$tools"

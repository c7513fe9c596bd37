#!/usr/bin/env bash
# Tests the Node.js package as users get it: packed, and installed into a fresh folder.
#
# The last lines are those of Node's test runner ("# pass 3"), which scripts/test.sh adds up.
#
# SPANLOG_COMMAND   the command, for writing in turn (built if it is not named)
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
folder=$target/node-test
scripts/pack-node.sh "$folder"
cp -r bindings-node/test "$folder/test"
cp -r examples/node "$folder/examples"
cp -r tests/scenarios "$folder/scenarios"
cp README.md "$folder"
if [ -z "${SPANLOG_COMMAND:-}" ]; then
    cargo build --quiet --locked -p spanlog-cli
    export SPANLOG_COMMAND=$target/debug/spanlog
fi
export SPANLOG_TOOLS=$PWD/bindings-node/node_modules

cd "$folder"
status=0
node --test --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination=closing test/*.test.js || status=$?
grep -E '^# (pass|fail|cancelled|skipped) ' closing
exit "$status"

#!/usr/bin/env bash
# Runs every check of the project and ends with one line that adds up what they said:
#
#   N passed, N failed, N skipped
#
# A step with a test runner of its own counts as many tests as the runner reports; any other step
# counts as one. A test that cannot run here prints a line beginning with "skipped: " and is
# counted as skipped, not as passed. Exits with 1 if anything failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH:/usr/sbin:/sbin"
export CARGO_TERM_COLOR=never

passed=0
failed=0
skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Runs a command for at most so many seconds; what it prints is shown and kept in $log.
run() {
    local seconds=$1 begun=$SECONDS status=0
    shift
    timeout --kill-after=10 "$seconds" "$@" </dev/null 2>&1 | tee "$log" || status=$?
    echo "took $((SECONDS - begun)) s"
    return "$status"
}

# check NAME SECONDS COMMAND...: one check, which the command passes or fails.
check() {
    local name=$1
    shift
    echo "== $name"
    if run "$@"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $name"
        failed=$((failed + 1))
    fi
}

# skip NAME REASON: one check that cannot run here.
skip() {
    echo "== $1"
    echo "skipped: $2"
    skipped=$((skipped + 1))
}

# What the lines in $log say is passed, failed or skipped, by the runner that printed them.

# "test result: ok. 3 passed; 0 failed; 1 ignored; ...", and a line for each that could not run.
cargo_counts() {
    local could_not
    could_not=$(grep -c '^skipped: ' "$log")
    sum() {
        grep '^test result: ' "$log" | grep -oE "[0-9]+ $1" | awk '{ all += $1 } END { print all + 0 }'
    }
    case $1 in
    passed) echo $(($(sum passed) - could_not)) ;;
    failed) sum failed ;;
    skipped) echo $(($(sum ignored) + could_not)) ;;
    esac
}

# "1 failed, 33 passed, 1 skipped in 0.12s", once for each run.
pytest_counts() {
    grep -E '^[0-9]+ [a-z]+(, [0-9]+ [a-z]+)* in [0-9.]+s' "$log" |
        grep -oE "[0-9]+ ($([ "$1" = failed ] && echo 'failed|errors?' || echo "$1"))" |
        awk '{ all += $1 } END { print all + 0 }'
}

# "# pass 3", "# fail 0", ...: the closing lines of Node's runner.
node_counts() {
    local word=$1
    [ "$1" = passed ] && word=pass
    [ "$1" = failed ] && word='fail|cancelled'
    grep -E "^# ($word) [0-9]+$" "$log" | awk '{ all += $3 } END { print all + 0 }'
}

# tests RUNNER NAME SECONDS COMMAND...: a command that runs tests and counts them itself.
tests() {
    local counts=$1_counts name=$2 status=0 here_failed
    shift 2
    declare -F "$counts" >/dev/null || { echo "$name: no runner is called ${counts%_counts}" >&2; exit 2; }
    echo "== $name"
    run "$@" || status=$?
    passed=$((passed + $($counts passed)))
    skipped=$((skipped + $($counts skipped)))
    here_failed=$($counts failed)
    # Code that does not compile, or a runner that was stopped, reports no failed test.
    [ "$status" -ne 0 ] && [ "$here_failed" -eq 0 ] && here_failed=1
    failed=$((failed + here_failed))
    [ "$status" -eq 0 ] || echo "FAILED: $name"
}

lint() {
    check "format" 60 cargo fmt --all --check
    check "lints" 900 cargo clippy --workspace --all-targets --locked -- -D warnings
}

everything() {
    check "setup" 900 scripts/setup.sh test
    if command -v javac >/dev/null && command -v mvn >/dev/null; then
        check "RocketMQ's own store" 600 tests/interop/build.sh
    else
        skip "RocketMQ's own store" "no JDK or no Maven"
    fi
    lint
    tests cargo "tests" 1200 cargo test --workspace --locked --no-fail-fast -- --show-output
    tests cargo "C and C++ programs" 1200 scripts/test-c.sh
    if python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        tests pytest "Python" 1200 scripts/test-python.sh
    else
        skip "Python" "no Python 3.11 with venv"
    fi
    if scripts/pack-node.sh --check; then
        tests node "Node.js" 1200 scripts/test-node.sh
    else
        skip "Node.js" "no Node.js 20.17 with npm"
    fi
    tests cargo "each language reads what each wrote" 300 scripts/test-crossing.sh
    tests cargo "fuzz corpora" 600 cargo test --manifest-path fuzz/Cargo.toml --no-default-features --locked
    RUSTDOCFLAGS="-D warnings" \
        check "documentation" 600 cargo doc --workspace --no-deps --locked
    if grep -rq loom_tests core/src; then
        RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom" \
            tests cargo "every interleaving" 600 cargo test -p spanlog --lib --release --locked loom
    fi
    if cargo deny --version >/dev/null 2>&1; then
        check "dependencies" 120 cargo deny --offline check bans licenses sources
    else
        skip "dependencies" "cargo-deny is not installed"
    fi
}

case "${1:-everything}" in
lint) lint ;;
*) everything ;;
esac

echo "$SECONDS seconds"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

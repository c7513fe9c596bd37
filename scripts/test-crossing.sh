#!/usr/bin/env bash
# Each of Rust, C, Python and JavaScript reads what each of them wrote; see tests/crossing. The
# packages are those that scripts/test-python.sh and scripts/test-node.sh have installed. Ends with a
# line of the form of cargo's.
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
python=$target/python/wheel/bin/python
package=$target/node-test/node_modules/spanlog
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 ignored=0 languages=(rust c)

cargo build --quiet --locked -p spanlog-tests --bin crossing || exit 1
cargo build --quiet --locked --release -p spanlog-ffi || exit 1
mkdir -p "$work/lib" "$work/node_modules"
ln -s "$target/release/libspanlog.so" "$work/lib/libspanlog.so"
ln -s libspanlog.so "$work/lib/libspanlog.so.0"
gcc -std=c11 -Wall -Wextra -Werror -Iinclude tests/crossing/crossing.c -L"$work/lib" -lspanlog \
    -Wl,-rpath,"$work/lib" -o "$work/crossing" || exit 1
if [ -x "$python" ]; then languages+=(python); else echo "skipped: Python: its package is not installed"; fi
if [ -e "$package" ]; then languages+=(node); else echo "skipped: JavaScript: its package is not installed"; fi
ln -s "$package" "$work/node_modules/spanlog"
cp tests/crossing/crossing.mjs "$work"
ignored=$((4 - ${#languages[@]}))

# crossing LANGUAGE write|read ROOT
crossing() {
    local language=$1
    shift
    case $language in
    rust) "$target/debug/crossing" "$@" ;;
    c) "$work/crossing" "$@" ;;
    python) "$python" tests/crossing/crossing.py "$@" ;;
    node) node "$work/crossing.mjs" "$@" ;;
    esac
}

crossing rust write "$work/expected" && crossing rust read "$work/expected" >"$work/lines" &&
    [ "$(wc -l <"$work/lines")" = 8 ] || { echo "Rust does not read what it wrote"; exit 1; }
for writer in "${languages[@]}"; do
    crossing "$writer" write "$work/$writer" || echo "$writer does not write"
    for reader in "${languages[@]}"; do
        if crossing "$reader" read "$work/$writer" >"$work/found" && cmp "$work/lines" "$work/found"; then
            echo "test $reader reads what $writer wrote ... ok"
            passed=$((passed + 1))
        else
            echo "test $reader reads what $writer wrote ... FAILED"
            diff "$work/lines" "$work/found" | cut -c1-200 | head -n 10
            failed=$((failed + 1))
        fi
    done
done

[ $failed -eq 0 ] && verdict=ok || verdict=FAILED
echo "test result: $verdict. $passed passed; $failed failed; $ignored ignored"
[ $failed -eq 0 ]

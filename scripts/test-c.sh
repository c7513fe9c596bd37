#!/usr/bin/env bash
# Everything that is checked of the C and C++ interface outside of Rust: it is installed into a
# fresh folder and used from there, as a program outside the tree does. Ends with a line of the
# form of cargo's: what passed, failed and was ignored.
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH:/usr/sbin:/sbin"
unset RUST_BACKTRACE

tree=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
passed=0 failed=0 ignored=0

# check NAME COMMAND...: one test; what it prints is shown if it fails.
check() {
    local name=$1
    shift
    local limit=(timeout 300)
    [ "$(type -t "$1")" != function ] || limit=()
    if ${limit[@]+"${limit[@]}"} "$@" >"$work/out" 2>&1; then
        echo "test $name ... ok"
        passed=$((passed + 1))
    else
        echo "test $name ... FAILED"
        tail -n 30 "$work/out"
        failed=$((failed + 1))
    fi
}

skip() {
    echo "skipped: $1: $2"
    ignored=$((ignored + 1))
}

# fresh NAME: an empty folder.
fresh() {
    rm -rf "$work/$1"
    mkdir "$work/$1"
    echo "$work/$1"
}

strict=(-Wall -Wextra -Wpedantic -Werror -g -O1)
# What POSIX has besides C, for tests and examples.
posix=(-D_GNU_SOURCE -Wno-unknown-warning-option -Wno-format-truncation)

# The header alone, in every dialect, twice in one unit.
headers() {
    printf '#include <spanlog.h>\n#include <spanlog.h>\nint unused = SPANLOG_VERSION_NUMBER;\n' >"$work/twice.c"
    printf '#include <spanlog.hpp>\n#include <spanlog.hpp>\n' >"$work/twice.cpp"
    local compiler dialect
    for compiler in gcc clang; do
        if ! command -v $compiler >/dev/null; then skip "header with $compiler" "it is not installed"; continue; fi
        for dialect in c99 c11 c2x; do
            check "header, $compiler -std=$dialect" $compiler -std=$dialect "${strict[@]}" \
                -Wno-unknown-warning-option -I"$prefix/include" -c "$work/twice.c" -o "$work/twice.o"
        done
        check "header, ${compiler} -std=c++17" ${compiler/gcc/g++} -std=c++17 "${strict[@]}" \
            -x c++ -I"$prefix/include" -c "$work/twice.cpp" -o "$work/twice.o"
    done
}

symbols() {
    nm -D --defined-only "$prefix/lib/libspanlog.so" | awk '{ print $3 }' | LC_ALL=C sort >"$work/symbols"
    check "the shared library exports what is documented" diff "$work/symbols" packaging/exported-symbols.txt
    nm --defined-only --extern-only "$prefix/lib/libspanlog.a" 2>/dev/null |
        awk 'NF == 3 { print $3 }' | LC_ALL=C sort >"$work/symbols"
    check "the static library exports what is documented" diff "$work/symbols" packaging/exported-symbols.txt
    objdump -p "$prefix/lib/libspanlog.so" >"$work/headers"
    check "the soname" grep -q 'SONAME *libspanlog.so.0$' "$work/headers"
}

sources_of() {
    case $1 in
    scenarios) echo tests/c/scenarios.c tests/c/values.c tests/c/answers.c tests/c/consumers.c tests/c/mending.c ;;
    classes) echo tests/c/classes.cpp ;;
    *) echo "tests/c/$1.c" ;;
    esac
}

# build NAME PROGRAM COMPILER FLAGS...
build() {
    local name=$1 program=$2 compiler=$3 dialect=-std=c11
    shift 3
    if [ "$program" = classes ]; then compiler=${compiler/gcc/g++} dialect=-std=c++17; fi
    if [ "$program-$compiler" = classes-clang ]; then compiler=clang++; fi
    # shellcheck disable=SC2046
    check "$name is built" "$compiler" $dialect "${strict[@]}" "${posix[@]}" "$@" $(sources_of "$program") \
        $(pkg-config --cflags --libs spanlog) $([ "$program" = scenarios ] && echo -lcjson) -lpthread \
        -Wl,-rpath,"$prefix/lib" -o "$work/$program"
}

# runs NAME PROGRAM [WRAPPER...]: with a fresh folder.
runs() {
    local name=$1 program=$2 arguments=()
    shift 2
    [ "$program" != scenarios ] || arguments=(tests/scenarios/*.json)
    check "$name" "$@" "$work/$program" "$(fresh folder)" ${arguments[@]+"${arguments[@]}"}
}

programs() {
    local program all=(every_call stories cursors queue_mode forks classes)
    if pkg-config --exists libcjson; then all+=(scenarios); else skip scenarios "libcjson is not installed"; fi
    check "layout of structures" gcc -std=c11 -I"$prefix/include" -c tests/c/layout.c -o "$work/layout.o"
    for program in "${all[@]}"; do
        build "$program" "$program" gcc
        runs "$program" "$program"
        if command -v valgrind >/dev/null; then
            runs "$program under valgrind" "$program" valgrind --quiet --error-exitcode=9 \
                --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect
        else
            skip "$program under valgrind" "it is not installed"
        fi
        # A child inherits the sanitizer's own locks, whoever held them.
        if [ "$program" != forks ]; then
            build "$program with sanitizers" "$program" gcc -fsanitize=address,undefined \
                -fno-sanitize-recover=all
            ASAN_OPTIONS=detect_leaks=1 runs "$program with sanitizers" "$program"
        fi
        if command -v clang >/dev/null; then
            build "$program with clang" "$program" clang
            runs "$program with clang" "$program"
        else
            skip "$program with clang" "it is not installed"
        fi
    done
}

two_static_libraries() {
    rustc --edition 2024 --crate-type staticlib -C panic=unwind tests/c/other.rs -o "$work/libother.a" || return 1
    # shellcheck disable=SC2046
    gcc "${strict[@]}" -I"$prefix/include" tests/c/two_libraries.c "$prefix/lib/libspanlog.a" \
        "$work/libother.a" $(pkg-config --static --libs spanlog | sed 's/-lspanlog//') -o "$work/two" || return 1
    "$work/two" "$(fresh folder)"
}

outside() {
    local kind
    cmake -S tests/c/outside -B "$work/outside" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$tree/examples" || return 1
    cmake --build "$work/outside" || return 1
    for kind in c_spanlog c_static cpp_spanlog cpp_static; do
        "$work/outside/$kind" "$(fresh folder)/s" >"$work/said" || return 1
        grep -q '^0: tea \[drink\]$' "$work/said" || return 1
    done
    ldd "$work/outside/c_spanlog" | grep -q "$prefix/lib/libspanlog.so.0" || return 1
    ! ldd "$work/outside/c_static" | grep -q libspanlog
}

# The README's example in C is run as it is printed.
readme() {
    sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$work/readme.c"
    [ "$(wc -l <"$work/readme.c")" -ge 8 ] || return 1
    # shellcheck disable=SC2046
    gcc -Wall -Wextra -Wpedantic -Werror "$work/readme.c" $(pkg-config --cflags --libs spanlog) \
        -Wl,-rpath,"$prefix/lib" -o "$work/readme" || return 1
    (cd "$(fresh folder)" && "$work/readme") >"$work/said" && grep -q '^tea is durable$' "$work/said"
}

# Both packages are unpacked by dpkg, used, and removed, on the machine itself.
debian_packages() {
    packaging/deb.sh "$work/debs" || return 1
    local outcome=0
    dpkg -i "$work"/debs/libspanlog0_*.deb "$work"/debs/libspanlog-dev_*.deb || outcome=1
    if [ $outcome = 0 ]; then
        # shellcheck disable=SC2046
        env -u PKG_CONFIG_PATH gcc examples/c/quickstart.c $(env -u PKG_CONFIG_PATH pkg-config --cflags --libs spanlog) \
            -o "$work/installed" && "$work/installed" "$(fresh folder)/s" || outcome=1
    fi
    dpkg -r libspanlog-dev libspanlog0 || outcome=1
    [ ! -e /usr/include/spanlog.h ] && ! ldconfig -p | grep -q libspanlog || outcome=1
    return $outcome
}

example() {
    local name=$1 language=${2:-c} compiler=gcc dialect=-std=c11
    if [ "$language" = cpp ]; then compiler=g++ dialect=-std=c++17; fi
    [ "$(wc -l <"examples/$language/$name.$language")" -le 60 ] || return 1
    # shellcheck disable=SC2046
    $compiler $dialect "${strict[@]}" "${posix[@]}" "examples/$language/$name.$language" \
        $(pkg-config --cflags --libs spanlog) -Wl,-rpath,"$prefix/lib" -o "$work/$name"
}

says() {
    local name=$1 text=$2
    example "$name" "${3:-c}" && "$work/$name" "$(fresh folder)/s" | tee "$work/said" && grep -q "$text" "$work/said"
}

tails() {
    example tail && printf 'one\ntwo\n' | "$work/tail" "$(fresh folder)" lines 2 >"$work/said" &&
        [ "$(cat "$work/said")" = $'one\ntwo' ]
}

# Lines go through a queue that outlives the process.
works() {
    example work_queue cpp || return 1
    local folder
    folder=$(fresh folder)
    printf 'one\ntwo\n' | "$work/work_queue" "$folder/q" >"$work/said" || return 1
    printf 'three\n' | "$work/work_queue" "$folder/q" >>"$work/said" || return 1
    [ "$(cat "$work/said")" = $'done 0: one\ndone 1: two\ndone 3: three' ]
}

# Lines from two clients, one of them without an end, are there after SIGTERM.
collects() {
    example line_collector || return 1
    local folder socket collector
    folder=$(fresh folder) socket=$work/socket
    "$work/line_collector" "$folder" "$socket" &
    collector=$!
    for _ in $(seq 200); do [ -S "$socket" ] && break; sleep 0.05; done
    python3 - "$socket" <<'PY' || { kill "$collector"; return 1; }
import socket, sys
for text in (b"<11>disk full\n<14>all is ", b"well\n"), (b"last words",):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(sys.argv[1])
        for part in text:
            client.sendall(part)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""
PY
    kill -TERM "$collector" && wait "$collector" || return 1
    : | "$work/tail" "$folder" syslog 3 >"$work/said"
    [ "$(cat "$work/said")" = $'<11>disk full\n<14>all is well\nlast words' ]
}

if ! packaging/install.sh "$prefix"; then
    echo "test result: FAILED. 0 passed; 1 failed; 0 ignored"
    exit 1
fi
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
headers
symbols
programs
check "two static Rust libraries in one program" two_static_libraries
if command -v cmake >/dev/null; then
    check "a CMake project outside the tree" outside
else
    skip "a CMake project outside the tree" "cmake is not installed"
fi
if [ "$(id -u)" = 0 ] && command -v dpkg-deb >/dev/null && ! dpkg -s libspanlog0 >/dev/null 2>&1; then
    check "Debian packages are installed, used and removed" debian_packages
else
    skip "Debian packages" "not root, no dpkg, or spanlog is installed here"
fi
check "the README's example in C" readme
check "example quickstart" says quickstart '^2: cocoa \[drink\]$'
check "example durable" says durable 'messages up to 101 are durable'
check "example many_disks" says many_disks 'shared: 75 % used, pressure 3, no new segments'
check "example tail" tails
check "example line_collector" collects
check "example quickstart in C++" says quickstart '^1: coffee$' cpp
check "example work_queue in C++" works

[ $failed -eq 0 ] && verdict=ok || verdict=FAILED
echo "test result: $verdict. $passed passed; $failed failed; $ignored ignored"
[ $failed -eq 0 ]

#!/usr/bin/env bash
# Installs what C and C++ programs need: headers, the shared library with its links, the static
# library, the files for pkg-config and CMake.
#
#   packaging/install.sh PREFIX
#
# DESTDIR    goes before every path that is written, and into none that is written down
# LIBDIR     the folder for libraries under PREFIX: lib by default
# BUILD      the folder with libspanlog.so and libspanlog.a; without it both are built here
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
[ $# -eq 1 ] || { echo "usage: $0 PREFIX" >&2; exit 2; }
prefix=$1
libdir=${LIBDIR:-lib}
if [ -z "${BUILD:-}" ]; then
    cargo build --quiet --release --locked -p spanlog-ffi
    BUILD=${CARGO_TARGET_DIR:-target}/release
fi
version=$(sed -nE '/^\[workspace.package\]/,/^\[/s/^version = "(.*)"/\1/p' Cargo.toml)
IFS=. read -r major minor _ <<<"$version"
soversion=$major
lib=${DESTDIR:-}$prefix/$libdir
include=${DESTDIR:-}$prefix/include

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fill() {
    sed "s|@prefix@|$prefix|; s|@libdir@|$libdir|; s|@version@|$version|; s|@major@|$major|
         s|@minor@|$minor|; s|@soversion@|$soversion|
         s|@up@|$(sed -E 's|[^/]+|..|g' <<<"$libdir")|" "$1" >"$2"
    chmod 644 "$2"
}

# Symbols that Rust uses if the system's libraries have them, and does without if not: linking with
# itself made them ones that must be there.
optional_symbols() {
    local libraries=() name
    for name in libc.so.6 libm.so.6 libgcc_s.so.1 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1; do
        name=$(gcc -print-file-name=$name)
        [ ! -e "$name" ] || libraries+=("$name")
    done
    nm -D --defined-only "${libraries[@]}" 2>/dev/null | awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' |
        LC_ALL=C sort -u >"$work/there"
    nm --undefined-only "$1" | awk '$1 == "U" { print $2 }' | LC_ALL=C sort -u |
        LC_ALL=C comm -23 - "$work/there"
}

# The static library is linked with itself and keeps the documented symbols alone: as cargo makes
# it, it cannot be linked beside another static library of the same Rust compiler.
localise() {
    local wanted=()
    while read -r symbol; do wanted+=(-u "$symbol"); done <packaging/exported-symbols.txt
    ld -r --gc-sections --force-group-allocation "${wanted[@]}" "$BUILD/libspanlog.a" -o "$work/spanlog.o"
    # Bitcode that Rust leaves in it is of another LLVM than that of plugins for ar.
    objcopy --keep-global-symbols=packaging/exported-symbols.txt --strip-debug \
        -R .llvmbc -R .llvmcmd "$work/spanlog.o"
    optional_symbols "$work/spanlog.o" >"$work/optional"
    objcopy --weaken-symbols="$work/optional" "$work/spanlog.o"
    ar rcsD "$work/libspanlog.a" "$work/spanlog.o"
}

localise
strip --strip-debug -o "$work/libspanlog.so" "$BUILD/libspanlog.so"
install -d "$include" "$lib/pkgconfig" "$lib/cmake/spanlog"
install -m 644 include/spanlog.h include/spanlog.hpp "$include/"
install -m 644 "$work/libspanlog.a" "$lib/"
install -m 644 "$work/libspanlog.so" "$lib/libspanlog.so.$version"
ln -sf "libspanlog.so.$version" "$lib/libspanlog.so.$soversion"
ln -sf "libspanlog.so.$soversion" "$lib/libspanlog.so"
fill packaging/spanlog.pc.in "$lib/pkgconfig/spanlog.pc"
fill packaging/spanlogConfig.cmake.in "$lib/cmake/spanlog/spanlogConfig.cmake"
fill packaging/spanlogConfigVersion.cmake.in "$lib/cmake/spanlog/spanlogConfigVersion.cmake"

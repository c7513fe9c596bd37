#!/usr/bin/env bash
# Makes Debian packages of what install.sh installs: the library and what compilers need of it.
#
#   packaging/deb.sh FOLDER     writes libspanlog0_VERSION_ARCH.deb and libspanlog-dev_...deb there
#
# BUILD   as for install.sh
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
out=$(realpath "$1")
version=$(sed -nE '/^\[workspace.package\]/,/^\[/s/^version = "(.*)"/\1/p' Cargo.toml)
arch=$(dpkg --print-architecture)
triplet=$(gcc -dumpmachine)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work/all LIBDIR=lib/$triplet packaging/install.sh /usr

# package NAME SECTION DEPENDS SUMMARY
package() {
    local tree=$work/$1
    install -d "$tree/DEBIAN" "$tree/usr/share/doc/$1"
    install -m 644 LICENSE "$tree/usr/share/doc/$1/copyright"
    cat >"$tree/DEBIAN/control" <<END
Package: $1
Version: $version
Architecture: $arch
Section: $2
Priority: optional
Maintainer: the spanlog maintainers <maintainers@users.noreply.github.com>
Depends: $3
Installed-Size: $(du -sk "$tree" | cut -f1)
Description: $4
 One commit log over many disks, with queues over it and a disk policy, as a
 library for message brokers and other programs.
END
    chmod -R u=rwX,go=rX "$tree"
    dpkg-deb --root-owner-group --build "$tree" "$out/$1_${version}_$arch.deb" >/dev/null
    echo "$out/$1_${version}_$arch.deb"
}

install -d "$work/libspanlog0/usr/lib/$triplet" "$work/libspanlog0/DEBIAN"
mv "$work/all/usr/lib/$triplet/"libspanlog.so.* "$work/libspanlog0/usr/lib/$triplet/"
echo "activate-noawait ldconfig" >"$work/libspanlog0/DEBIAN/triggers"
package libspanlog0 libs "libc6, libgcc-s1" "message-log storage engine (shared library)"
mkdir -p "$work/libspanlog-dev"
mv "$work/all/usr" "$work/libspanlog-dev/"
package libspanlog-dev libdevel "libspanlog0 (= $version)" \
    "message-log storage engine (headers and static library)"

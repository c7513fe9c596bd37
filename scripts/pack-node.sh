#!/usr/bin/env bash
# Builds the Node.js package and installs its tarball into a folder of its own.
#
#   scripts/pack-node.sh FOLDER
#   scripts/pack-node.sh --check    only says whether this machine can
#
# The folder is made anew. Fails where the generated loader is not the committed one.
set -euo pipefail
folder=$(realpath -m -- "$1")
cd "$(dirname "$0")/../bindings-node"
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"

new_enough='const [a, b] = process.versions.node.split("."); process.exit(a > 20 || a == 20 && b >= 17 ? 0 : 1)'
if [ "$1" = --check ]; then
    command -v npm >/dev/null && node -e "$new_enough"
    exit
fi

rm -rf "$folder"
mkdir -p "$folder"
quiet=(--silent --no-audit --no-fund)

if [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci "${quiet[@]}" --ignore-scripts
fi
npm run --silent build
git diff --exit-code -- binding.js binding.d.ts || {
    echo "binding.js and binding.d.ts are generated, and have changed: commit them" >&2
    exit 1
}
cp ../LICENSE LICENSE
npm pack --silent --pack-destination "$folder"

cd "$folder"
echo '{ "private": true }' >package.json
npm install "${quiet[@]}" --offline ./spanlog-*.tgz

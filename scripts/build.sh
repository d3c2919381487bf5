#!/usr/bin/env bash
# Builds the package: build/wasm by CMake, then dist/ from it and from bindings/js.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh build
scripts/build-wasm.sh

# dist/ is written anew when something it is made of is newer (a deletion shows in its folder's time).
sizes=build/sizes.txt
inputs=(bindings/js build/wasm/id2vec.* scripts/build-package.mjs scripts/lib package-lock.json tsconfig*.json)
if [ ! -e dist/index.js ] || [ ! -e "$sizes" ] || [ -n "$(find "${inputs[@]}" -newer "$sizes" -print -quit)" ]; then
  node scripts/build-package.mjs >"$sizes.partial"
  mv "$sizes.partial" "$sizes"
fi
cat "$sizes"

#!/usr/bin/env bash
# Builds the package: build/wasm by CMake, then dist/ from it and from bindings/js.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh build
scripts/build-wasm.sh
node scripts/build-package.mjs

#!/usr/bin/env bash
# Builds build/wasm: the two WebAssembly modules, their glue and its types.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh
source scripts/configure.sh

PATH="$PWD/scripts/tools:$PATH"
configure wasm "$(command -v emcc)" emcmake cmake
cmake --build --preset wasm --parallel "$(nproc)"

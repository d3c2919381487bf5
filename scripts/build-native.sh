#!/usr/bin/env bash
# Builds targets of build/native (all tests and fuzz targets when none is named) with the newest Clang there is.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh
source scripts/configure.sh

CXX="$(command -v clang++-19 || command -v clang++ || command -v g++)" || fail "install clang++ 16 or newer"
export CXX
configure native "$CXX" cmake
cmake --build --preset native --parallel "$(nproc)" ${1:+--target "$@"}

#!/usr/bin/env bash
# npm run tidy [-- FILE…]     clang-tidy over src/, or over the files named; minutes, hence not part of npm test
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh

program=$(command -v clang-tidy-19 || command -v clang-tidy) || fail "install clang-tidy 19"
[ -e build/native/compile_commands.json ] || scripts/build-native.sh
[ $# -gt 0 ] || set -- src/*/*.cpp
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" "$program" -p build/native --quiet 2> >(grep -v 'warnings generated' >&2)

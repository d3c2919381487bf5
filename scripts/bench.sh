#!/usr/bin/env bash
# Runs every benchmark of tests/bench: *.cpp natively, *.bench.mjs in Node on the built package. They print; nothing
# is asserted, because a shared machine's figures prove nothing about a change.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh

scripts/setup.sh test
scripts/build.sh
if compgen -G 'tests/bench/*.cpp' >/dev/null; then
  scripts/build-native.sh bench
  for program in build/native/bench/*; do echo "=== ${program##*/}"; "$program"; done
fi
# Relaxed SIMD needs Node 22; see scripts/setup/modules.sh.
node=node
[ -x "$NODE24_PROGRAM" ] && node="$NODE24_PROGRAM"
for script in tests/bench/*.bench.mjs; do
  [ -e "$script" ] || continue
  echo "=== ${script##*/}"
  "$node" "$script"
done

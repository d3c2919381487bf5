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
# What others need for the same work: installed beside the tools, no dependency of this project.
export ID2VEC_PEERS="$ID2VEC_CACHE/peers"
[ -d "$ID2VEC_PEERS/node_modules/onnxruntime-web" ] ||
  npm install --prefix "$ID2VEC_PEERS" --no-save --ignore-scripts --loglevel=error onnxruntime-web@1.30.0 </dev/null ||
  say "onnxruntime-web could not be installed: nothing to compare with"
for script in tests/bench/*.bench.mjs; do
  [ -e "$script" ] || continue
  echo "=== ${script##*/}"
  "$node" "$script" "$@"
done

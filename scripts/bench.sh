#!/usr/bin/env bash
# Builds, then runs the benchmarks of tests/bench: *.cpp natively, the others by main.mjs, which says what it can be told.
# They print; nothing is asserted, because a shared machine's figures prove nothing about a change.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh

# Stdout belongs to the benchmarks.
scripts/setup.sh test >&2
scripts/build.sh >&2
if [ $# = 0 ] && compgen -G 'tests/bench/*.cpp' >/dev/null; then
  scripts/build-native.sh bench
  for program in build/native/bench/*; do echo "=== ${program##*/}"; "$program"; done
fi
# Relaxed SIMD needs Node 22; see scripts/setup/modules.sh.
node=node
[ -x "$NODE24_PROGRAM" ] && node="$NODE24_PROGRAM"
# What others need for the same work: installed beside the tools, no dependency of this project.
export ID2VEC_PEERS="$ID2VEC_CACHE/peers"
peers=(onnxruntime-web@1.30.0 @tensorflow/tfjs-backend-wasm@4.22.0 @tensorflow/tfjs-core@4.22.0)
if [ "$(cat "$ID2VEC_PEERS/installed" 2>/dev/null)" != "${peers[*]}" ]; then
  if npm install --prefix "$ID2VEC_PEERS" --no-save --ignore-scripts --loglevel=error "${peers[@]}" </dev/null >&2; then
    echo "${peers[*]}" >"$ID2VEC_PEERS/installed"
  else
    say "not all of ${peers[*]} could be installed: nothing to compare with"
  fi
fi
exec "$node" tests/bench/main.mjs "$@"

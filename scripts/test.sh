#!/usr/bin/env bash
# npm test [-- SUITE…]     suites: see scripts/test/main.mjs; all of them when none is named
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh

scripts/setup.sh test
[ -x "$NODE24_PROGRAM" ] && export ID2VEC_NODE24="$NODE24_PROGRAM"
node scripts/test/main.mjs "$@"

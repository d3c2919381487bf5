#!/usr/bin/env bash
# Prepares a machine: Debian packages, the WebAssembly compiler, the npm modules.
#
#   scripts/setup.sh [build|test]     (default: build; "test" adds browsers, sanitizers and linters)
#
# Every step looks first and does nothing when it is already done, so the whole
# script costs well under a second on a prepared machine. It writes outside the
# tree only through apt and into the cache folder that scripts/env.sh names.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/env.sh
source scripts/setup/packages.sh
source scripts/setup/emscripten.sh
source scripts/setup/modules.sh

purpose="${1:-build}"
case "$purpose" in
  build | test) ;;
  *) fail "unknown purpose '$purpose': use scripts/setup.sh build or scripts/setup.sh test" ;;
esac

check_node
# One at a time: two checkouts may share the cache folder, and apt has a lock of its own.
mkdir -p "$ID2VEC_CACHE"
if command -v flock >/dev/null; then
  exec 9>"$ID2VEC_CACHE/setup.lock"
  flock 9
fi
install_packages "$purpose"
install_emscripten
install_modules
[ "$purpose" = build ] || install_newer_node

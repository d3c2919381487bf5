#!/usr/bin/env bash
# Everything that can be said about the sources without running them. All checks run; any finding fails.
set -uo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh
source scripts/lint/cpp-files.sh

failures=0
check() {
  local title="$1"
  shift
  "$@" && return
  say "$title: see above"
  failures=$((failures + 1))
}

# The types of the glue, and those of the package that the page imports, are made by the build.
[ -e dist/types/bindings/js/index.d.ts ] || scripts/build.sh || exit 1

check "clang-format (npm run format)" clang_format --dry-run -Werror
check "prettier (npm run format)" npx prettier --check --log-level warn .
check "eslint" npx eslint --max-warnings 0 .
check "types" npx tsc --noEmit
check "types of the page" npx tsc --noEmit --project web
check "folder order of src/" node scripts/lint/include-order.mjs
check "what the core never does" node scripts/lint/core-purity.mjs
check "views on wasm memory" node scripts/lint/memory-views.mjs
[ "$failures" = 0 ] && echo "lint: no findings"

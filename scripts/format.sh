#!/usr/bin/env bash
# Rewrites C++, TypeScript, JSON, CSS and HTML in the project's style.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh
source scripts/lint/cpp-files.sh

clang_format -i
npx prettier --write --log-level warn .
npx eslint --fix .

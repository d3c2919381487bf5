#!/usr/bin/env bash
# Looks at what npm would publish: are exports, files and types what Node, bundlers and TypeScript expect?
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm pack --silent --pack-destination "$folder" >/dev/null
npx publint run --strict "$folder"/*.tgz
npx attw "$folder"/*.tgz --profile esm-only --exclude-entrypoints worker.js --no-emoji

#!/usr/bin/env bash
# npm start [-- --once]
#
# Builds everything, embeds a few ids on the command line, serves the page and prints its address.
# With --once the server is asked for the page once, and then everything ends.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh
node_modules/.bin/vite build web --logLevel warn
scripts/demo.sh
exec node scripts/serve.mjs "$@"

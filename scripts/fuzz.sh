#!/usr/bin/env bash
# npm run fuzz -- TARGET [SECONDS]     for instance: npm run fuzz -- gguf_fuzz 600
#
# What the fuzzer finds interesting is kept in build/fuzz/TARGET and used next time; inputs that everybody should
# start from stand in tests/fuzz/seeds/TARGET. An input that fails is written to build/fuzz/TARGET-….
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh

target="${1:-}"
seconds="${2:-60}"
targets=$(cd tests/fuzz && ls -- *_fuzz.cpp | sed 's/\.cpp$//' | tr '\n' ' ')
case " $targets " in
  *" $target "*) [ -n "$target" ] || fail "name a target: $targets" ;;
  *) fail "no fuzz target '$target'; there are $targets" ;;
esac

log="build/fuzz/$target.log"
mkdir -p "build/fuzz/$target"
scripts/build-native.sh "$target" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
folders=("build/fuzz/$target")
[ -d "tests/fuzz/seeds/$target" ] && folders+=("tests/fuzz/seeds/$target")
if "build/native/fuzz/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="build/fuzz/$target-" "${folders[@]}" >"$log" 2>&1 </dev/null; then
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, none failed"
else
  tail -n 60 "$log" >&2
  fail "$target failed; the whole output is in $log"
fi

#!/usr/bin/env bash
# npm run fuzz -- [TARGET…] [--seconds N]     for instance: npm run fuzz -- gguf_fuzz --seconds 600
#
# Runs the fuzz targets of tests/fuzz (all of them where none is named), N seconds each (60). They start from the
# seeds of scripts/fuzz-seeds.mjs; what the fuzzer finds interesting is kept in build/fuzz/TARGET and used next
# time. An input that fails is written to build/fuzz/TARGET-…; "build/native/fuzz/TARGET FILE" repeats it.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/env.sh

longest=4000   # bytes; longer inputs make the fuzzer slow and find nothing more
seconds=60
targets=()
all=$(cd tests/fuzz && ls -- *_fuzz.cpp | sed 's/\.cpp$//' | tr '\n' ' ')
while [ $# -gt 0 ]; do
  case "$1" in
    --seconds)
      [[ "${2:-}" =~ ^[0-9]+$ ]] || fail "--seconds wants a number"
      seconds="$2"
      shift
      ;;
    *)
      case " $all" in
        *" $1 "*) targets+=("$1") ;;
        *) fail "no fuzz target '$1'; there are $all" ;;
      esac
      ;;
  esac
  shift
done
# shellcheck disable=SC2206  # the names are one word each
[ ${#targets[@]} -gt 0 ] || targets=($all)

mkdir -p build/fuzz
scripts/build-native.sh "${targets[@]}" >build/fuzz/build.log 2>&1 || { cat build/fuzz/build.log >&2; exit 1; }

failed=0
for target in "${targets[@]}"; do
  log="build/fuzz/$target.log"
  mkdir -p "build/fuzz/$target"
  node scripts/fuzz-seeds.mjs "$target" "build/fuzz/seeds/$target"
  if "build/native/fuzz/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -max_len="$longest" -print_final_stats=1 -artifact_prefix="build/fuzz/$target-" \
    "build/fuzz/$target" "build/fuzz/seeds/$target" >"$log" 2>&1 </dev/null; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, none failed"
  else
    tail -n 60 "$log" >&2
    say "$target failed; the whole output is in $log"
    failed=$((failed + 1))
  fi
done
[ "$failed" = 0 ]

#!/usr/bin/env bash
# From ids to vectors and back to logits, with a default model. The logits are those of the looked-up rows
# themselves, so every id should find itself among the first.
set -euo pipefail
cd "$(dirname "$0")/.."

model=models/use-lite.Q8_0.gguf
ids=(20 7 150 1999)
show() { printf '\n$ id2vec %s\n' "$*"; node dist/cli.js "$@"; }

show info "$model"
show lookup "$model" "${ids[@]}"
show logits "$model" --ids "${ids[@]}" --top 5

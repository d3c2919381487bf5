// What an architecture does around the table: the numbers of its input and output stage. One row per family in
// architectures.cpp fills it from GGUF metadata or config.json; every value can be overridden by the caller.
//
//   input:  x = norm((E[id] · embedding_scale + positions + token types)) · projectionᵀ + projection bias
//   output: z = softcap(h' · Wᵀ · logit_scale) + bias,  h' = h · hidden_scale (or its projection)
#pragma once

#include <cstdint>
#include <string>

namespace id2vec {

enum class Positions : uint8_t {
  kNone,
  kLearned,                 // a table [positions, d]
  kSinusoidalInterleaved,   // even columns sin, odd columns cos ("Attention Is All You Need", section 3.5)
  kSinusoidalHalves,        // first half sin, second half cos (Marian)
};
enum class PositionIds : uint8_t {
  kSequential,              // 0, 1, 2, …
  kCumulativeMask,          // cumsum(mask) − 1 (OPT)
  kSkipPadding,             // pads stay at padding_id, others count from padding_id + 1 (RoBERTa)
};
enum class Norm : uint8_t { kNone, kLayerNorm, kRmsNorm };

struct Profile {
  std::string architecture;         // "llama", "gpt2", …; empty where the file does not say
  double embedding_scale = 1;       // × on the rows
  Positions positions = Positions::kNone;
  PositionIds position_ids = PositionIds::kSequential;
  int64_t position_offset = 0;      // added to every position before the table is read (OPT: 2)
  Norm norm = Norm::kNone;
  double norm_epsilon = 1e-5;
  double hidden_scale = 1;          // × on h before the head (T5: d^−½; MiniCPM: dim_model_base / hidden)
  double logit_scale = 1;           // × on the dot product (Cohere: as stored; Granite: 1 / stored)
  double softcap = 0;               // c · tanh(z / c); 0: none
  int64_t padding_id = -1;          // −1: none
  int64_t bos_id = -1;
  int64_t eos_id = -1;
  uint64_t vocabulary_size = 0;     // tokens of the tokenizer; 0 where the file does not say
};

}  // namespace id2vec

// What an architecture does around the table: the numbers of its input and output stage. One row per family in
// resolve_profile.cpp fills it from GGUF metadata or config.json; every value can be overridden by the caller.
//
//   input:  x = E[id] · embedding_scale            (→ projection here, where projection_first)
//           x = norm(x + token types + positions)  (→ projection here otherwise)
//   output: h' = head_norm(activation(h · hidden_scale · projectionᵀ + projection bias))
//           z  = softcap(h' · Wᵀ · logit_scale) + bias
//
// Tensors take part where the file has them (roles of model.h); the profile says how.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace id2vec {

enum class Positions : uint8_t {
  kNone,
  kLearned,                // a table [positions, d]
  kSinusoidalInterleaved,  // even columns sin, odd columns cos ("Attention Is All You Need", section 3.5)
  kSinusoidalHalves,       // first half sin, second half cos (Marian, Pegasus)
};
enum class PositionIds : uint8_t {
  kSequential,      // 0, 1, 2, …
  kCumulativeMask,  // cumsum(mask) · mask − 1 (OPT)
  kSkipPadding,     // pads stay at padding_id, others count from padding_id + 1 (RoBERTa)
};
enum class Norm : uint8_t { kNone, kLayerNorm, kRmsNorm };
enum class Activation : uint8_t { kNone, kGelu, kGeluTanh, kRelu };

struct Profile {
  std::string architecture;  // as the file names it: "llama", "gpt2", …; empty where it does not
  std::string family;        // the row of architectures.cpp; empty where no row claims the name
  double embedding_scale = 1;
  Positions positions = Positions::kNone;
  PositionIds position_ids = PositionIds::kSequential;
  int64_t position_offset = 0;  // added to every position before the table is read (OPT, BART: 2)
  Norm norm = Norm::kNone;
  double norm_epsilon = 1e-5;
  bool projection_first = false;  // OPT: project the row, then add positions; ALBERT: the other way round
  bool head_through_projection = false;  // a factorized table: h · projection before the dot with the rows
  double hidden_scale = 1;  // × on h before the head (T5: d^−½; MiniCPM: dim_model_base / hidden)
  Activation head_activation = Activation::kNone;
  Norm head_norm = Norm::kNone;
  double logit_scale = 1;      // × on the dot product (Cohere: as stored; Granite: 1 / stored)
  double softcap = 0;          // c · tanh(z / c); 0: none
  double per_layer_scale = 1;  // × on the rows of the second, per-layer table (Gemma 3n)
  bool normalize = false;      // static embeddings: unit length after pooling
  int64_t padding_id = -1;     // −1: none
  int64_t bos_id = -1;
  int64_t eos_id = -1;
  int64_t unknown_id = -1;
  uint64_t vocabulary_size = 0;      // tokens of the tokenizer; 0 where the file does not say
  int64_t tie_word_embeddings = -1;  // what config.json says: 1, 0, or −1 where it is silent
};

// One value of a profile under its public name ("embeddingScale"); `text` where it is a word, else `number`.
struct ProfileEntry {
  std::string_view key;
  bool is_text = false;
  bool is_flag = false;  // number is 0 or 1
  double number = 0;
  std::string_view text = {};
};
// Every value, in a fixed order. Views into `profile` and static memory.
std::vector<ProfileEntry> profile_entries(const Profile& profile);

// Sets one value by its public name. kInvalidArgument for an unknown key, a word that is no choice of this key, a
// number where a word belongs (and the reverse), and values outside the key's range; the message lists what is valid.
Status override_profile(Profile& profile, std::string_view key, double value);
Status override_profile(Profile& profile, std::string_view key, std::string_view value);

}  // namespace id2vec

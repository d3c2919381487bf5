// The one table of architectures: what each family of models does around its embedding table, and under which
// names GGUF files (general.architecture) and config.json (model_type, architectures) speak of it.
// A row holds rules; resolve_profile.h turns them into numbers with what the file says.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/profile.h"

namespace id2vec {

// Where a number is stored: under "<architecture>.<gguf>" in GGUF metadata, under `config` in config.json; the
// fallback where it is in neither. An empty key is never looked up.
struct Stored {
  std::string_view gguf;
  std::string_view config;
  double fallback = 0;
};

enum class EmbeddingScale : uint8_t {
  kStored,         // the number under Architecture::scale
  kSqrtWidth,      // √d
  kSqrtIfFlagged,  // √d where config.json has scale_embedding: true, else 1
};
enum class HiddenScale : uint8_t {
  kOne,
  kInverseSqrtIfTied,  // d^−½ where head and embedding are one table, else 1 (T5)
  kModelBase,          // dim_model_base / d; GGUF stores the inverse as logit_scale (MiniCPM)
};

struct Architecture {
  std::string_view family;
  std::string_view names;   // separated by spaces; compared without case, '-' and '_'
  std::string_view source;  // where the formula is published
  EmbeddingScale embedding_scale = EmbeddingScale::kStored;
  Stored scale = {"", "", 1};
  Positions positions = Positions::kNone;
  PositionIds position_ids = PositionIds::kSequential;
  int64_t position_offset = 0;
  Norm norm = Norm::kNone;
  Stored epsilon = {"attention.layer_norm_epsilon", "layer_norm_eps", 1e-5};
  bool projection_first = false;
  HiddenScale hidden_scale = HiddenScale::kOne;
  Activation head_activation = Activation::kNone;
  std::string_view activation_key = {};  // config.json's word for it, where that may differ per checkpoint
  Norm head_norm = Norm::kNone;
  Stored logit_scale = {"", "", 1};
  bool divide_logits = false;  // the stored logit scale is a divisor
  Stored softcap = {"", "", 0};
  Stored per_layer_width = {"", "",
                            0};  // columns per layer of a second table; its rows are scaled by the root
  int64_t padding_id = -1;       // where the file names none
};

std::span<const Architecture> architectures();
// The row that claims a name ("command-r", "CohereForCausalLM", "gemma3_text"); null if none does.
const Architecture* architecture_by_name(std::string_view name);

}  // namespace id2vec

#include "model/resolve_profile.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "model/architectures.h"

namespace id2vec {
namespace {

constexpr double kNoToken = 4294967295;

// What the file says, whichever of the two dialects it speaks.
class FileValues {
 public:
  explicit FileValues(const Directory& directory) : directory_(directory) {
    prefix_ = std::string(directory.text("general.architecture", "")) + ".";
  }

  const MetadataValue* find(std::string_view key) const {
    const auto found = directory_.metadata.find(key);
    return found == directory_.metadata.end() ? nullptr : &found->second;
  }
  // config.json's value; of models with several parts, the text part's where the whole has none.
  const MetadataValue* config(std::string_view key) const {
    if (key.empty()) return nullptr;
    const MetadataValue* value = find("config." + std::string(key));
    return value ? value : find("config.text_config." + std::string(key));
  }
  const MetadataValue* gguf(std::string_view key) const {
    return key.empty() || prefix_.size() == 1 ? nullptr : find(prefix_ + std::string(key));
  }
  double number(const Stored& stored) const {
    if (const auto value = as_number(gguf(stored.gguf))) return *value;
    return as_number(config(stored.config)).value_or(stored.fallback);
  }
  std::string_view text(std::string_view config_key) const {
    const MetadataValue* value = config(config_key);
    const std::string* text = value ? std::get_if<std::string>(value) : nullptr;
    return text ? std::string_view(*text) : std::string_view();
  }
  // GGUF files write "none" as the largest 32-bit number.
  int64_t token_id(std::string_view gguf_key, std::string_view config_key, int64_t fallback) const {
    auto id = as_number(find(gguf_key));
    if (!id) id = as_number(config(config_key));
    return id && *id >= 0 && *id < kNoToken ? static_cast<int64_t>(*id) : fallback;
  }

  // Numbers and flags as a number; of a list its first item (eos_token_id may be one).
  static std::optional<double> as_number(const MetadataValue* value) {
    if (!value) return std::nullopt;
    if (const auto* v = std::get_if<bool>(value)) return *v ? 1.0 : 0.0;
    if (const auto* v = std::get_if<int64_t>(value)) return static_cast<double>(*v);
    if (const auto* v = std::get_if<uint64_t>(value)) return static_cast<double>(*v);
    if (const auto* v = std::get_if<double>(value)) return *v;
    if (const auto* v = std::get_if<std::vector<double>>(value); v && !v->empty()) return v->front();
    return std::nullopt;
  }

 private:
  const Directory& directory_;
  std::string prefix_;
};

// `value` rounded to a float with `bits` bits of significand, ties to even.
double rounded_to_bits(double value, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

// transformers keeps √d as a tensor of the model's own dtype, so a bfloat16 checkpoint multiplies by a rounded
// factor (3072 → 55.5, 640 → 25.25); llama.cpp and a float32 model use the float32 root.
double root_of_width(const FileValues& file, double width) {
  const double root = static_cast<float>(std::sqrt(width));
  std::string_view dtype = file.text("torch_dtype");
  if (dtype.empty()) dtype = file.text("dtype");
  if (dtype == "bfloat16") return rounded_to_bits(root, 8);
  if (dtype == "float16") return rounded_to_bits(root, 11);
  return root;
}

double embedding_scale(const Architecture& row, const FileValues& file, double width) {
  switch (row.embedding_scale) {
    case EmbeddingScale::kSqrtWidth:
      return row.family == "transformer" ? static_cast<float>(std::sqrt(width)) : root_of_width(file, width);
    case EmbeddingScale::kSqrtIfFlagged:
      return FileValues::as_number(file.config("scale_embedding")).value_or(0) != 0
                 ? static_cast<float>(std::sqrt(width))
                 : 1.0;
    case EmbeddingScale::kStored: break;
  }
  return file.number(row.scale);
}

double hidden_scale(const Architecture& row, const FileValues& file, const Profile& profile,
                    const ProfileFacts& facts) {
  const double width = facts.hidden;
  if (width == 0) return 1;
  switch (row.hidden_scale) {
    case HiddenScale::kOne: break;
    case HiddenScale::kInverseSqrtIfTied: {
      const bool tied = profile.tie_word_embeddings >= 0 ? profile.tie_word_embeddings == 1 : facts.tied;
      return tied ? 1 / std::sqrt(width) : 1.0;
    }
    case HiddenScale::kModelBase: {
      const double stored_inverse = file.number({"logit_scale", "", 0});
      return stored_inverse > 0 ? 1 / stored_inverse : file.number({"", "dim_model_base", 256}) / width;
    }
  }
  return 1;
}

Activation head_activation(const Architecture& row, const FileValues& file) {
  const std::string_view word = file.text(row.activation_key);
  if (word == "gelu") return Activation::kGelu;
  if (word == "gelu_new" || word == "gelu_pytorch_tanh" || word == "gelu_fast") return Activation::kGeluTanh;
  if (word == "relu") return Activation::kRelu;
  return row.head_activation;
}

double logit_scale(const Architecture& row, const FileValues& file) {
  const double stored = file.number(row.logit_scale);
  if (stored == 0 || !std::isfinite(stored)) return 1;  // llama.cpp reads 0 as "none"
  return row.divide_logits ? 1 / stored : stored;
}

// Tokens of the tokenizer: some converters fill the list up to V with unused pieces named [PAD…].
uint64_t vocabulary_size(const Vocabulary& vocabulary) {
  constexpr int32_t kUnused = 5;  // tokenizer.ggml.token_type
  size_t size = vocabulary.size();
  if (vocabulary.types.size() != size) return size;
  while (size > 0 && vocabulary.types[size - 1] == kUnused && vocabulary.piece(size - 1).starts_with("[PAD"))
    --size;
  return size;
}

// A file without any word about its architecture may still show it by the names of its tensors.
std::string_view family_by_tensor_names(const Directory& directory) {
  constexpr std::string_view kPrefixes[] = {"bert", "distilbert", "roberta", "albert", "electra"};
  for (const Tensor& tensor : directory.tensors) {
    const std::string_view name = tensor.name;
    if (name == "wpe.weight" || name.ends_with(".wpe.weight")) return "gpt2";
    if (name.find("word_embeddings_layernorm.") != std::string_view::npos) return "bloom";
    for (std::string_view prefix : kPrefixes) {
      if (name.starts_with(prefix) && name.substr(prefix.size()).starts_with(".embeddings.")) return prefix;
    }
  }
  return {};
}

struct Named {
  std::string name;
  const Architecture* row = nullptr;
};
Named find_architecture(const Directory& directory, const FileValues& file, std::string_view chosen) {
  if (!chosen.empty()) return {std::string(chosen), architecture_by_name(chosen)};
  std::vector<std::string_view> names = {directory.text("general.architecture", ""),
                                         directory.text("config.model_type", ""),
                                         directory.text("config.text_config.model_type", "")};
  if (const MetadataValue* list = file.config("architectures")) {
    const auto* classes = std::get_if<std::vector<std::string>>(list);
    if (classes && !classes->empty()) names.push_back(classes->front());
  }
  names.push_back(family_by_tensor_names(directory));
  Named first;
  for (std::string_view name : names) {
    if (name.empty()) continue;
    if (const Architecture* row = architecture_by_name(name)) return {std::string(name), row};
    if (first.name.empty()) first.name = name;
  }
  return first;
}

void fill_ids(const Directory& directory, const FileValues& file, Profile& profile) {
  profile.padding_id = file.token_id("tokenizer.ggml.padding_token_id", "pad_token_id", -1);
  profile.bos_id = file.token_id("tokenizer.ggml.bos_token_id", "bos_token_id", -1);
  profile.eos_id = file.token_id("tokenizer.ggml.eos_token_id", "eos_token_id", -1);
  profile.unknown_id = file.token_id("tokenizer.ggml.unknown_token_id", "unk_token_id", -1);
  profile.vocabulary_size = vocabulary_size(directory.vocabulary);
}

void fill_from_row(const Architecture& row, const FileValues& file, const ProfileFacts& facts,
                   Profile& profile) {
  profile.family = row.family;
  profile.embedding_scale = embedding_scale(row, file, facts.hidden);
  profile.positions = row.positions;
  profile.position_ids = row.position_ids;
  profile.position_offset = row.position_offset;
  profile.norm = row.norm;
  profile.norm_epsilon = file.number(row.epsilon);
  profile.projection_first = row.projection_first;
  profile.hidden_scale = hidden_scale(row, file, profile, facts);
  profile.head_activation = head_activation(row, file);
  profile.head_norm = row.head_norm;
  profile.logit_scale = logit_scale(row, file);
  profile.softcap = file.number(row.softcap);
  const double per_layer = file.number(row.per_layer_width);
  if (per_layer > 0) profile.per_layer_scale = root_of_width(file, per_layer);
  if (profile.padding_id < 0) profile.padding_id = row.padding_id;
}

}  // namespace

Profile resolve_profile(const Directory& directory, const ProfileFacts& facts) {
  const FileValues file(directory);
  Profile profile;
  const auto tie = FileValues::as_number(file.config("tie_word_embeddings"));
  if (tie) profile.tie_word_embeddings = *tie != 0;
  fill_ids(directory, file, profile);
  const Named named = find_architecture(directory, file, facts.architecture);
  profile.architecture = named.name;
  if (named.row) fill_from_row(*named.row, file, facts, profile);
  const auto normalize = FileValues::as_number(file.config("normalize"));
  profile.normalize = normalize.value_or(0) != 0;
  // A factorized table (tools/factorize.h): A[ids] · B stands for the row, so everything else comes after it.
  if (directory.find(kFactorProjection)) {
    profile.projection_first = true;
    profile.head_through_projection = facts.tied;
  }
  return profile;
}

}  // namespace id2vec

#include "model/architectures.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace id2vec {
namespace {

constexpr std::string_view kLayerNormEps = "attention.layer_norm_epsilon";
constexpr double kNoToken = 4294967295;
constexpr Stored kSoftcap = {"final_logit_softcapping", "final_logit_softcapping", 0};
constexpr Stored kSoftcap30 = {"final_logit_softcapping", "final_logit_softcapping", 30};

// Sources: "HF" is huggingface/transformers, src/transformers/models/<family>/modeling_<family>.py; "llama.cpp" is
// ggml-org/llama.cpp, src/models/<family>.cpp and the loading of its hyperparameters.
constexpr Architecture kArchitectures[] = {
    {.family = "transformer",
     .names = "transformer",
     .source = "Vaswani et al. 2017, sections 3.4 and 3.5",
     .embedding_scale = EmbeddingScale::kSqrtWidth,
     .positions = Positions::kSinusoidalInterleaved},

    {.family = "gpt2",
     .names = "gpt2 gpt-bigcode starcoder gpt-neo openai-gpt",
     .source = "HF GPT2Model.forward; llama.cpp gpt2",
     .positions = Positions::kLearned},

    {.family = "llama",
     .names =
         "llama llama4 llama4-text mistral mistral3 mistral4 ministral mixtral qwen qwen2 qwen2moe qwen2-moe "
         "qwen2vl qwen2-vl qwen2-5-vl qwen3 qwen3moe qwen3-moe qwen3next qwen3-next qwen3vl qwen3vlmoe "
         "qwen35 "
         "qwen35moe smollm3 deepseek deepseek2 deepseek-v2 deepseek-v3 olmo olmo2 olmo3 olmoe internlm2 "
         "baichuan falcon gptneox gpt-neox mpt stablelm starcoder2 phi3 phimoe exaone exaone4 glm glm4 "
         "chatglm "
         "gpt-oss lfm2 mamba mamba2 falcon-mamba rwkv6 rwkv7 nemotron bitnet ernie4-5 hunyuan-dense arcee "
         "apertus dbrx jamba orion xverse seed-oss mimo2 eurobert neo-bert llama-embed",
     .source = "HF LlamaModel.forward, LlamaForCausalLM.forward; llama.cpp llama"},

    {.family = "phi2",
     .names = "phi phi2 phi-msft gptj codegen",
     .source = "HF PhiForCausalLM (lm_head with bias); llama.cpp phi2 (output.bias)"},

    {.family = "gemma",
     .names = "gemma gemma3 gemma3-text gemma-embedding",
     .source =
         "HF GemmaModel.forward, Gemma3TextScaledWordEmbedding; llama.cpp gemma, gemma3, gemma-embedding",
     .embedding_scale = EmbeddingScale::kSqrtWidth,
     .softcap = kSoftcap},

    {.family = "gemma2",
     .names = "gemma2",
     .source = "HF Gemma2Model.forward, Gemma2ForCausalLM.forward; llama.cpp gemma2",
     .embedding_scale = EmbeddingScale::kSqrtWidth,
     .softcap = kSoftcap30},

    {.family = "gemma3n",
     .names = "gemma3n gemma3n-text",
     .source = "HF Gemma3nTextModel (embed_tokens_per_layer); llama.cpp gemma3n",
     .embedding_scale = EmbeddingScale::kSqrtWidth,
     .softcap = kSoftcap30,
     .per_layer_width = {"embedding_length_per_layer_input", "hidden_size_per_layer_input", 256}},

    {.family = "gemma4",
     .names = "gemma4 gemma4-text",
     .source = "HF Gemma4TextModel; llama.cpp gemma4",
     .embedding_scale = EmbeddingScale::kSqrtWidth,
     .softcap = kSoftcap,
     .per_layer_width = {"embedding_length_per_layer_input", "hidden_size_per_layer_input", 256}},

    {.family = "t5",
     .names = "t5 t5encoder mt5 umt5 longt5 switch-transformers",
     .source = "HF T5ForConditionalGeneration.forward (sequence_output · model_dim^−0.5 where tied)",
     .hidden_scale = HiddenScale::kInverseSqrtIfTied},

    {.family = "bert",
     .names = "bert distilbert electra",
     .source = "HF BertEmbeddings.forward, BertLMPredictionHead.forward; llama.cpp bert",
     .positions = Positions::kLearned,
     .norm = Norm::kLayerNorm,
     .epsilon = {kLayerNormEps, "layer_norm_eps", 1e-12},
     .head_activation = Activation::kGelu,
     .activation_key = "hidden_act",
     .head_norm = Norm::kLayerNorm},

    {.family = "roberta",
     .names = "roberta xlm-roberta camembert longformer mpnet",
     .source = "HF RobertaEmbeddings.create_position_ids_from_input_ids, RobertaLMHead.forward",
     .positions = Positions::kLearned,
     .position_ids = PositionIds::kSkipPadding,
     .norm = Norm::kLayerNorm,
     .epsilon = {kLayerNormEps, "layer_norm_eps", 1e-5},
     .head_activation = Activation::kGelu,
     .head_norm = Norm::kLayerNorm,
     .padding_id = 1},

    {.family = "nomic-bert",
     .names = "nomic-bert nomic-bert-moe jina-bert-v2 jina-bert-v3",
     .source = "llama.cpp bert (rotary or ALiBi kinds: types and norm, no position table)",
     .norm = Norm::kLayerNorm,
     .epsilon = {kLayerNormEps, "layer_norm_epsilon", 1e-12},
     .head_activation = Activation::kGelu,
     .head_norm = Norm::kLayerNorm},

    {.family = "modernbert",
     .names = "modernbert modern-bert",
     .source = "HF ModernBertEmbeddings.forward, ModernBertPredictionHead.forward",
     .norm = Norm::kLayerNorm,
     .epsilon = {kLayerNormEps, "norm_eps", 1e-5},
     .head_activation = Activation::kGelu,
     .activation_key = "classifier_activation",
     .head_norm = Norm::kLayerNorm},

    {.family = "albert",
     .names = "albert",
     .source =
         "HF AlbertEmbeddings.forward, AlbertTransformer.embedding_hidden_mapping_in, AlbertMLMHead.forward",
     .positions = Positions::kLearned,
     .norm = Norm::kLayerNorm,
     .epsilon = {kLayerNormEps, "layer_norm_eps", 1e-12},
     .head_activation = Activation::kGeluTanh,
     .activation_key = "hidden_act",
     .head_norm = Norm::kLayerNorm},

    {.family = "opt",
     .names = "opt",
     .source =
         "HF OPTLearnedPositionalEmbedding.forward, OPTDecoder.forward (project_in before the positions)",
     .positions = Positions::kLearned,
     .position_ids = PositionIds::kCumulativeMask,
     .position_offset = 2,
     .projection_first = true,
     .padding_id = 1},

    {.family = "bart",
     .names = "bart mbart plbart",
     .source = "HF BartLearnedPositionalEmbedding, BartScaledWordEmbedding, BartEncoder.layernorm_embedding",
     .embedding_scale = EmbeddingScale::kSqrtIfFlagged,
     .positions = Positions::kLearned,
     .position_offset = 2,
     .norm = Norm::kLayerNorm,
     .epsilon = {"", "", 1e-5}},

    {.family = "marian",
     .names = "marian pegasus",
     .source = "HF MarianSinusoidalPositionalEmbedding, MarianMTModel (final_logits_bias); Pegasus the same",
     .embedding_scale = EmbeddingScale::kSqrtIfFlagged,
     .positions = Positions::kSinusoidalHalves},

    {.family = "whisper",
     .names = "whisper",
     .source = "HF WhisperDecoder.forward, WhisperForConditionalGeneration (proj_out tied)",
     .positions = Positions::kLearned},

    {.family = "bloom",
     .names = "bloom",
     .source = "HF BloomModel.word_embeddings_layernorm; llama.cpp bloom (token_embd_norm)",
     .norm = Norm::kLayerNorm,
     .epsilon = {kLayerNormEps, "layer_norm_epsilon", 1e-5}},

    {.family = "granite",
     .names = "granite granitemoe granitemoeshared granitehybrid granitemoehybrid",
     .source = "HF GraniteModel.forward, GraniteForCausalLM.forward; llama.cpp granite (1 / logit_scale)",
     .scale = {"embedding_scale", "embedding_multiplier", 1},
     .logit_scale = {"logit_scale", "logits_scaling", 1},
     .divide_logits = true},

    {.family = "cohere",
     .names = "cohere cohere2 cohere2moe command-r",
     .source = "HF CohereForCausalLM.forward; llama.cpp command-r",
     .logit_scale = {"logit_scale", "logit_scale", 0.0625}},

    {.family = "grok",
     .names = "grok grok-1 grok1",
     .source = "llama.cpp grok (defaults for files without the keys)",
     .scale = {"embedding_scale", "embedding_multiplier_scale", 78.38367176906169},
     .logit_scale = {"logit_scale", "output_multiplier_scale", 0.5773502691896257},
     .softcap = kSoftcap},

    {.family = "minicpm",
     .names = "minicpm minicpm3",
     .source =
         "openbmb MiniCPMModel.forward, MiniCPMForCausalLM.forward; llama.cpp minicpm (1 / logit_scale)",
     .scale = {"embedding_scale", "scale_emb", 12},
     .hidden_scale = HiddenScale::kModelBase},

    {.family = "falcon-h1",
     .names = "falcon-h1",
     .source =
         "HF FalconH1Model.forward, FalconH1ForCausalLM.forward (GGUF holds the factors in its weights)",
     .scale = {"", "embedding_multiplier", 1},
     .logit_scale = {"", "lm_head_multiplier", 1}},

    {.family = "static",
     .names = "static static-model static-embedding model2vec",
     .source = "MinishLab/model2vec StaticModel.encode; sentence-transformers StaticEmbedding.forward"},
};

// "XLMRobertaForMaskedLM" and "xlm-roberta" meet as "xlmroberta".
std::string folded(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '-' || c == '_' || c == '.') continue;
    out += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

// The model's name at the front of a Python class name.
std::string_view without_class_suffix(std::string_view name) {
  constexpr std::string_view kSuffixes[] = {"ForConditionalGeneration",
                                            "ForSequenceClassification",
                                            "ForMaskedLM",
                                            "ForCausalLM",
                                            "ForPreTraining",
                                            "LMHeadModel",
                                            "TextModel",
                                            "EncoderModel",
                                            "MTModel",
                                            "Model"};
  for (std::string_view suffix : kSuffixes) {
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

bool row_claims(const Architecture& row, std::string_view wanted) {
  std::string_view names = row.names;
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (folded(names.substr(0, end)) == wanted) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

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

std::span<const Architecture> architectures() { return kArchitectures; }

const Architecture* architecture_by_name(std::string_view name) {
  const std::string plain = folded(name);
  const std::string model = folded(without_class_suffix(name));
  for (const Architecture& row : kArchitectures) {
    if (row_claims(row, plain) || row_claims(row, model)) return &row;
  }
  return nullptr;
}

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

#include "model/architectures.h"

#include <algorithm>
#include <string>

namespace id2vec {
namespace {

constexpr std::string_view kLayerNormEps = "attention.layer_norm_epsilon";
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

}  // namespace id2vec

#include "model/alias.h"

#include <algorithm>

namespace id2vec {
namespace {

// GGUF names come first where a role has one, then those of transformers, then others'. A row's order matters:
// the first name that fits a tensor of the right form wins.
constexpr RoleNames kRoleNames[] = {
    {"embedding", Form::kTable,
     "token_embd.weight "
     "*shared.weight "                 // T5, BART, Marian: one table for encoder and decoder
     "*embed_tokens.weight "           // Llama, Qwen, Gemma, OPT, Whisper, …
     "*wte.weight "                    // GPT-2, GPT-Neo, MPT, Phi-1
     "*word_embeddings.weight "        // BERT and its family, BLOOM, Falcon
     "*tok_embeddings.weight "         // Meta's Llama files, InternLM2, ModernBERT
     "*embed_in.weight "               // GPT-NeoX, Pythia
     "*tokens_embed.weight "           // OpenAI's GPT
     "*word_embedding.weight "         // XLNet
     "*token_embedding.weight "        // CLIP, OpenAI's Whisper
     "*token_embedding_table.weight "  // teaching code
     "*tok_emb.weight *token_emb.weight *embeddings.weight *embedding.weight *emb.weight "  // Mamba, RWKV, minGPT
     "*embeddings.word_embeddings embeddings embedding vectors"},  // static embeddings
    {"head", Form::kHead,
     "output.weight *lm_head.weight *embed_out.weight *cls.predictions.decoder.weight "
     "*lm_head.decoder.weight "
     "*predictions.decoder.weight *vocab_projector.weight *generator_lm_head.weight *proj_out.weight "
     "*lm_loss.weight *output_layer.weight *output_projection.weight *pred_layer.proj.weight "
     "decoder.weight head.weight *output.weight"},
    {"head_bias", Form::kLogits,
     "output.bias *lm_head.bias *embed_out.bias *cls.predictions.bias *cls.predictions.decoder.bias "
     "*lm_head.decoder.bias *predictions.bias *predictions.decoder.bias *vocab_projector.bias "
     "*generator_lm_head.bias *final_logits_bias *lm_loss.bias *pred_layer.proj.bias decoder.bias"},
    {"projection", Form::kProjection,
     "token_embd_projection.weight *embedding_hidden_mapping_in.weight *embeddings_project.weight "
     "*project_in.weight"},
    {"projection_bias", Form::kHidden,
     "*embedding_hidden_mapping_in.bias *embeddings_project.bias *project_in.bias"},
    {"positions", Form::kRows,
     "position_embd.weight *wpe.weight *position_embeddings.weight *embed_positions.weight "
     "*positions_embed.weight "
     "*position_embedding.weight *positional_embedding pos_emb"},
    {"token_types", Form::kRows, "token_types.weight *token_type_embeddings.weight"},
    {"norm_weight", Form::kWidth,
     "token_embd_norm.weight *embeddings.LayerNorm.weight *embeddings.LayerNorm.gamma "
     "*embeddings.norm.weight "
     "*word_embeddings_layernorm.weight *layernorm_embedding.weight *layer_norm_emb.weight *emb_ln.weight"},
    {"norm_bias", Form::kWidth,
     "token_embd_norm.bias *embeddings.LayerNorm.bias *embeddings.LayerNorm.beta *embeddings.norm.bias "
     "*word_embeddings_layernorm.bias *layernorm_embedding.bias *layer_norm_emb.bias *emb_ln.bias"},
    {"head_projection", Form::kToRow,
     "*cls.predictions.transform.dense.weight *lm_head.dense.weight *predictions.dense.weight "
     "*vocab_transform.weight *generator_predictions.dense.weight *project_out.weight head.dense.weight"},
    {"head_projection_bias", Form::kRowWidth,
     "*cls.predictions.transform.dense.bias *lm_head.dense.bias *predictions.dense.bias "
     "*vocab_transform.bias "
     "*generator_predictions.dense.bias *project_out.bias head.dense.bias"},
    {"head_norm_weight", Form::kRowWidth,
     "*cls.predictions.transform.LayerNorm.weight *cls.predictions.transform.LayerNorm.gamma "
     "*lm_head.layer_norm.weight *predictions.LayerNorm.weight *vocab_layer_norm.weight "
     "*generator_predictions.LayerNorm.weight head.norm.weight"},
    {"head_norm_bias", Form::kRowWidth,
     "*cls.predictions.transform.LayerNorm.bias *cls.predictions.transform.LayerNorm.beta "
     "*lm_head.layer_norm.bias "
     "*predictions.LayerNorm.bias *vocab_layer_norm.bias *generator_predictions.LayerNorm.bias "
     "head.norm.bias"},
    {"per_layer", Form::kMatrix, "per_layer_token_embd.weight *embed_tokens_per_layer.weight"},
    {"mapping", Form::kIntegers, "mapping"},
    {"weights", Form::kNumbers, "weights"},
};

// Parts of a name under which other tensors live than those of the text model's two ends.
bool is_foreign_part(std::string_view part) {
  for (const std::string_view word : {"layers", "layer", "h", "block", "blocks", "experts"}) {
    if (part == word) return true;
  }
  for (const std::string_view word : {"vision", "visual", "audio", "image"}) {
    if (part.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::span<const RoleNames> role_names() { return kRoleNames; }

std::string_view next_name(std::string_view& names) {
  const size_t end = std::min(names.find(' '), names.size());
  const std::string_view name = names.substr(0, end);
  names.remove_prefix(std::min(end + 1, names.size()));
  return name;
}

bool name_matches(std::string_view pattern, std::string_view tensor) {
  if (!pattern.starts_with('*')) return tensor == pattern;
  pattern.remove_prefix(1);
  if (!tensor.ends_with(pattern)) return false;
  std::string_view before = tensor.substr(0, tensor.size() - pattern.size());
  if (before.empty()) return true;
  if (before.back() != '.') return false;
  while (!before.empty()) {
    const size_t dot = before.find('.');
    if (is_foreign_part(before.substr(0, dot))) return false;
    before.remove_prefix(dot + 1);
  }
  return true;
}

}  // namespace id2vec

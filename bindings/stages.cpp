#include "stages.h"

#include <numeric>

#include "border.h"
#include "core/text.h"

namespace id2vec {
namespace {

OutputOptions options_of(const HeadCall& call) {
  return {.precision = call.fast ? Precision::kFast : Precision::kHigh,
          .allowed = span_at<const uint32_t>(call.allowed, call.allowed_length),
          .forbidden = span_at<const uint32_t>(call.forbidden, call.forbidden_length),
          .limit = call.limit,
          .temperature = call.temperature,
          .scores = static_cast<Scores>(int{call.scores})};
}

// out [V]: the length of each row.
Status norms_of(const Table& table, uintptr_t out) {
  return row_norms(table, span_at<float>(out, table.spec().rows));
}

// norms as norms_of() wrote them, or 0 for the dot metric; values and indices [k].
Status nearest_rows(const Table& table, uintptr_t norms, const NearestCall& call, uintptr_t values,
                    uintptr_t indices) {
  const NearestOptions options{.metric = static_cast<Metric>(int{call.metric}),
                               .exclude = span_at<const uint32_t>(call.exclude, call.exclude_length),
                               .limit = call.limit};
  return id2vec::nearest(table, span_at<const float>(norms, table.spec().rows),
                         span_at<const float>(call.query, table.spec().cols), call.k, options,
                         {at<float>(values), at<int32_t>(indices), nullptr});
}

}  // namespace

Stages::Stages(const Profile& profile, const Table& embedding, const Table& head)
    : profile_(profile), embedding_(&embedding), head_(&head), rows_(embedding.spec().rows) {}

Status Stages::set_table(const std::string& role, const Table* table) {
  if (role == "positions") return positions_ = table, Status();
  if (role == "token_types") return token_types_ = table, Status();
  if (role == "projection") return projection_ = table, Status();
  if (role == "head_projection") return head_projection_ = table, Status();
  return fail(Code::kInvalidArgument, "No stage takes a table for the role ", quoted(role), ".");
}

std::vector<float>* Stages::vector_of(std::string_view role) {
  if (role == "norm_weight") return &norm_weight_;
  if (role == "norm_bias") return &norm_bias_;
  if (role == "projection_bias") return &projection_bias_;
  if (role == "head_projection_bias") return &head_projection_bias_;
  if (role == "head_norm_weight") return &head_norm_weight_;
  if (role == "head_norm_bias") return &head_norm_bias_;
  if (role == "head_bias") return &head_bias_;
  if (role == "weights") return &weights_;
  return nullptr;
}

Status Stages::set_vector(const std::string& role, const Table& table) {
  std::vector<float>* to = vector_of(role);
  if (to == nullptr)
    return fail(Code::kInvalidArgument, "No stage takes a vector for the role ", quoted(role), ".");
  std::vector<uint32_t> ids(table.spec().rows);
  std::iota(ids.begin(), ids.end(), 0u);
  to->resize(ids.size() * table.spec().cols);
  return table.lookup(ids, *to);
}

void Stages::set_weights(uintptr_t weights, size_t count) {
  const auto from = span_at<const float>(weights, count);
  weights_.assign(from.begin(), from.end());
}

void Stages::use_head(const Table* table, uintptr_t ids, size_t count) {
  stand_in_ = table;
  stand_in_bias_.clear();
  if (head_bias_.empty()) return;
  for (uint32_t id : span_at<const uint32_t>(ids, count)) {
    stand_in_bias_.push_back(id < head_bias_.size() ? head_bias_[id] : 0.0f);
  }
}

InputStage Stages::input() const {
  return {.embedding = embedding_,
          .positions = positions_,
          .token_types = token_types_,
          .norm = {norm_weight_, norm_bias_},
          .projection = {.matrix = projection_, .bias = projection_bias_}};
}

OutputStage Stages::output() const {
  OutputStage stage{.head = stand_in_ != nullptr ? stand_in_ : head_,
                    .projection = {.matrix = head_projection_, .bias = head_projection_bias_},
                    .norm = {head_norm_weight_, head_norm_bias_},
                    .bias = stand_in_ != nullptr ? stand_in_bias_ : head_bias_};
  if (profile_.head_through_projection) stage.projection = {.matrix = projection_, .transposed = true};
  return stage;
}

Status Stages::through_factors(uintptr_t vectors, size_t count, bool down, uintptr_t out) const {
  const Projection factor{.matrix = projection_, .transposed = down};
  return project(factor, span_at<const float>(vectors, count * factor.input_width()), count,
                 span_at<float>(out, count * factor.output_width()));
}

Status Stages::embed(const EmbedCall& call, uintptr_t out) const {
  const InputStage stage = input();
  const EmbedOptions options{
      .shape = {call.batch, call.length},
      .positions = {.past = call.past,
                    .explicit_ids = span_at<const uint32_t>(call.positions, call.positions_length),
                    .attention_mask = span_at<const uint8_t>(call.attention_mask, call.batch * call.length)},
      .token_types = span_at<const uint32_t>(call.token_types, call.batch * call.length),
      .rows = span_at<const float>(call.rows, call.batch * call.length * embedding_->spec().cols)};
  const size_t tokens = options.shape.tokens();
  return id2vec::embed(profile_, stage, span_at<const uint32_t>(call.ids, tokens), options,
                       span_at<float>(out, tokens * id2vec::embed_width(stage)));
}

Status Stages::logits(const HeadCall& call, uintptr_t out) const {
  const OutputStage stage = output();
  const size_t ids = call.allowed != 0 ? size_t{call.allowed_length} : stage.head->spec().rows;
  const auto hidden = span_at<const float>(call.hidden, call.count * id2vec::hidden_width(stage));
  return head_logits(profile_, stage, hidden, options_of(call), span_at<float>(out, call.count * ids));
}

Status Stages::top_k(const HeadCall& call, size_t k, uintptr_t values, uintptr_t indices) const {
  const OutputStage stage = output();
  const auto hidden = span_at<const float>(call.hidden, call.count * id2vec::hidden_width(stage));
  return head_top_k(profile_, stage, hidden, k, options_of(call),
                    {at<float>(values), at<int32_t>(indices), nullptr});
}

Status Stages::rows_of(uintptr_t ids, size_t count, uintptr_t out) const {
  const auto from = span_at<const uint32_t>(ids, count);
  uint32_t* to = at<uint32_t>(out);
  for (size_t i = 0; i < count; ++i) {
    to[i] = mapping_.empty() ? from[i] : mapping_[from[i]];
    if (to[i] < rows_) continue;
    return fail(Code::kMalformed, "The file maps id ", from[i], " to row ", to[i], ", but its table has ",
                rows_, " rows.");
  }
  return {};
}

Status Stages::pool(const Table* gathered, const PoolCall& call, uintptr_t out) const {
  const PoolOptions options{.mode = static_cast<PoolMode>(int{call.mode}),
                            .offsets = span_at<const uint32_t>(call.offsets, call.offsets_length),
                            .attention_mask = span_at<const uint8_t>(call.attention_mask, call.ids_length),
                            .sample_weights = span_at<const float>(call.sample_weights, call.ids_length),
                            .padding_id = call.padding_id,
                            .unknown_id = call.unknown_id,
                            .mapping = mapping_,
                            .weights = weights_,
                            .dimensions = call.dimensions,
                            .normalize = call.normalize,
                            .places = span_at<const uint32_t>(call.places, call.ids_length),
                            .whole_rows = rows_};
  const Table& table = gathered != nullptr ? *gathered : *embedding_;
  const auto ids = span_at<const uint32_t>(call.ids, call.ids_length);
  const size_t values = bag_count(ids, options) * pool_width(table, options);
  return id2vec::pool(table, ids, options, span_at<float>(out, values));
}

EMSCRIPTEN_BINDINGS(id2vec_stages) {
  bind<&destroy<Stages>>("deleteStages");
  bind<&Stages::set_table>("setTable");
  bind<&Stages::set_vector>("setVector");
  bind<&Stages::set_mapping>("setMapping");
  bind<&Stages::set_weights>("setWeights");
  bind<&Stages::use_head>("useHead");
  bind<&Stages::embed_width>("embedWidth");
  bind<&Stages::hidden_width>("hiddenWidth");
  bind<&Stages::ids>("countIds");
  bind<&Stages::set_rows>("setRows");
  bind<&Stages::through_factors>("throughFactors");
  bind<&Stages::embed>("embed");
  bind<&Stages::logits>("headLogits");
  bind<&Stages::top_k>("headTopK");
  bind<&Stages::rows_of>("rowsOf");
  bind<&Stages::pool>("pool");

  bind<&norms_of>("rowNorms");
  bind<&nearest_rows>("nearest");
}

}  // namespace id2vec

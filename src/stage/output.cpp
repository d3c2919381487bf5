#include "stage/output.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.h"
#include "core/text.h"
#include "stage/activation.h"
#include "stage/checks.h"
#include "stage/values.h"
#include "table/best.h"

namespace id2vec {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// The steps between a dot product and a finished score, as a table's Finish hook runs them on every block.
class ScoreRules {
 public:
  static Result<ScoreRules> of(const Profile& profile, const OutputStage& stage,
                               const OutputOptions& options) {
    ScoreRules rules(profile, stage, options);
    if (options.forbidden.empty()) return rules;
    ID2VEC_ASSIGN(rules.forbidden_, Values<bool>::of(stage.head->spec().rows));
    std::fill(rules.forbidden_.all().begin(), rules.forbidden_.all().end(), false);
    for (uint32_t id : options.forbidden) rules.forbidden_[id] = true;
    return rules;
  }

  // A positive scale, the softcap and the temperature keep the order of scores; only a bias can change it. Where
  // nothing but the order and the values of the winners is asked for, these steps wait for the winners.
  bool keep_order() const { return bias_.empty() && scale_ > 0; }

  float finished(float z, uint64_t id) const {
    z *= scale_;
    if (softcap_ > 0) z = static_cast<float>(softcap_ * hyperbolic_tangent(z / softcap_));
    if (id < bias_.size()) z += bias_[id];
    return temperature_ == 1 ? z : static_cast<float>(z / temperature_);
  }

  Finish finish_and_mask() const {
    return {[](const void* rules, const ScoreBlock& block) {
              static_cast<const ScoreRules*>(rules)->finish(block);
              static_cast<const ScoreRules*>(rules)->mask(block);
            },
            this};
  }
  Finish mask_only() const {
    if (forbidden_.size() == 0) return {};
    return {[](const void* rules, const ScoreBlock& block) {
              static_cast<const ScoreRules*>(rules)->mask(block);
            },
            this};
  }

 private:
  ScoreRules(const Profile& profile, const OutputStage& stage, const OutputOptions& options)
      : scale_(static_cast<float>(profile.logit_scale)),
        softcap_(profile.softcap),
        temperature_(options.temperature),
        bias_(stage.bias) {}

  void finish(const ScoreBlock& block) const {
    if (scale_ == 1 && softcap_ == 0 && bias_.empty() && temperature_ == 1) return;
    for (size_t n = 0; n < block.vectors; ++n) {
      float* scores = block.scores + n * block.stride;
      for (size_t i = 0; i < block.rows.count; ++i) scores[i] = finished(scores[i], block.rows[i]);
    }
  }

  void mask(const ScoreBlock& block) const {
    if (forbidden_.size() == 0) return;
    for (size_t i = 0; i < block.rows.count; ++i) {
      if (!forbidden_[block.rows[i]]) continue;
      for (size_t n = 0; n < block.vectors; ++n) block.scores[n * block.stride + i] = kNever;
    }
  }

  float scale_;
  double softcap_, temperature_;
  std::span<const float> bias_;
  Values<bool> forbidden_;
};

size_t id_count(const OutputStage& stage, const OutputOptions& options) {
  return options.allowed.empty() ? stage.head->spec().rows : options.allowed.size();
}

Status check_stage(const Profile& profile, const OutputStage& stage) {
  const size_t width = stage.head->spec().cols;
  if (stage.projection) {
    ID2VEC_RETURN_IF_ERROR(check_projection(stage.projection, stage.projection.input_width()));
    if (stage.projection.output_width() != width) {
      return fail(Code::kInvalidArgument, "The head's projection gives vectors of width ",
                  stage.projection.output_width(), ", but the head's rows have width ", width, ".");
    }
    if (profile.head_norm != Norm::kNone && stage.norm.weight.empty()) {
      return fail(Code::kNotFound, "The ", quoted(profile.architecture),
                  " architecture normalizes before its head, but the file has no weight for that norm; "
                  "override profile.headNorm with \"none\" to go without.");
    }
    ID2VEC_RETURN_IF_ERROR(check_norm(profile.head_norm, stage.norm, width));
  }
  if (stage.bias.size() <= stage.head->spec().rows) return {};
  return fail(Code::kInvalidArgument, "The head's bias has ", stage.bias.size(), " values for ",
              stage.head->spec().rows, " ids.");
}

Status check_call(const OutputStage& stage, std::span<const float> hidden, const OutputOptions& options) {
  const size_t width = hidden_width(stage);
  if (hidden.size() % width != 0) {
    return fail(Code::kInvalidArgument, "hidden has ", hidden.size(),
                " values, which is no multiple of the width ", width, ".");
  }
  if (!(options.temperature > 0) || !std::isfinite(options.temperature)) {
    return fail(Code::kInvalidArgument, "temperature has to be a finite number above 0.");
  }
  const uint64_t rows = stage.head->spec().rows;
  ID2VEC_RETURN_IF_ERROR(check_below(options.allowed, rows, "Allowed id", "the head"));
  return check_below(options.forbidden, rows, "Forbidden id", "the head");
}

// h' of `count` vectors; `hidden` itself where nothing has to be done to it.
Result<std::span<const float>> prepare_hidden(const Profile& profile, const OutputStage& stage,
                                              std::span<const float> hidden, size_t count,
                                              Values<float>& scaled, Values<float>& projected) {
  if (profile.hidden_scale != 1) {
    ID2VEC_ASSIGN(scaled, Values<float>::of(hidden.size()));
    const float scale = static_cast<float>(profile.hidden_scale);
    for (size_t i = 0; i < hidden.size(); ++i) scaled[i] = hidden[i] * scale;
    hidden = scaled.all();
  }
  if (!stage.projection) return hidden;
  const size_t width = stage.projection.output_width();
  ID2VEC_ASSIGN(projected, Values<float>::of(count * width));
  ID2VEC_RETURN_IF_ERROR(project(stage.projection, hidden, count, projected.all()));
  activate(profile.head_activation, projected.all());
  normalize_rows(profile.head_norm, profile.norm_epsilon, stage.norm, projected.data(), count, width);
  return std::span<const float>(projected.all());
}

void softmax(std::span<float> z, Scores scores) {
  LogSumExp total;
  total.add(z.data(), z.size());
  const double log_total = total.value();
  for (float& value : z) {
    const double shifted = value - log_total;
    value = static_cast<float>(scores == Scores::kSoftmax ? exponential(shifted) : shifted);
  }
}

// Winners' scores, finished if that was left for now, and normalized on request.
void finish_winners(const ScoreRules& rules, bool finished, Scores scores, size_t k, size_t vectors,
                    TopK best) {
  for (size_t i = 0; i < vectors * k; ++i) {
    float& value = best.values[i];
    if (!finished && best.indices[i] >= 0)
      value = rules.finished(value, static_cast<uint64_t>(best.indices[i]));
    if (scores == Scores::kLogits) continue;
    const double shifted = double{value} - best.log_sum_exp[i / k];
    value = static_cast<float>(scores == Scores::kSoftmax ? exponential(shifted) : shifted);
  }
}

}  // namespace

size_t hidden_width(const OutputStage& stage) {
  return stage.projection ? stage.projection.input_width() : stage.head->spec().cols;
}

Status head_logits(const Profile& profile, const OutputStage& stage, std::span<const float> hidden,
                   const OutputOptions& options, std::span<float> out) {
  ID2VEC_RETURN_IF_ERROR(check_stage(profile, stage));
  ID2VEC_RETURN_IF_ERROR(check_call(stage, hidden, options));
  const size_t count = hidden.size() / hidden_width(stage), ids = id_count(stage, options);
  ID2VEC_RETURN_IF_ERROR(check_length("out", out.size(), count * ids, "[vectors, ids]"));
  ID2VEC_ASSIGN(const ScoreRules rules, ScoreRules::of(profile, stage, options));
  Values<float> scaled, projected;
  ID2VEC_ASSIGN(const auto vectors, prepare_hidden(profile, stage, hidden, count, scaled, projected));
  ID2VEC_RETURN_IF_ERROR(stage.head->logits(vectors, options.precision,
                                            {.only = options.allowed, .limit = options.limit}, out,
                                            rules.finish_and_mask()));
  if (options.scores == Scores::kLogits) return {};
  for (size_t v = 0; v < count; ++v) softmax(out.subspan(v * ids, ids), options.scores);
  return {};
}

Status head_top_k(const Profile& profile, const OutputStage& stage, std::span<const float> hidden, size_t k,
                  const OutputOptions& options, TopK best) {
  ID2VEC_RETURN_IF_ERROR(check_stage(profile, stage));
  ID2VEC_RETURN_IF_ERROR(check_call(stage, hidden, options));
  if (k == 0) return fail(Code::kInvalidArgument, "k has to be 1 or more.");
  const size_t count = hidden.size() / hidden_width(stage);
  ID2VEC_ASSIGN(const ScoreRules rules, ScoreRules::of(profile, stage, options));
  Values<float> scaled, projected, totals;
  ID2VEC_ASSIGN(const auto vectors, prepare_hidden(profile, stage, hidden, count, scaled, projected));
  const bool with_totals = options.scores != Scores::kLogits;
  const bool finish_all = with_totals || !rules.keep_order();
  if (with_totals) {
    ID2VEC_ASSIGN(totals, Values<float>::of(count));
    best.log_sum_exp = totals.data();
  }
  ID2VEC_RETURN_IF_ERROR(stage.head->top_k(vectors, k, options.precision,
                                           {.only = options.allowed, .limit = options.limit}, best,
                                           finish_all ? rules.finish_and_mask() : rules.mask_only()));
  finish_winners(rules, finish_all, options.scores, k, count, best);
  return {};
}

}  // namespace id2vec

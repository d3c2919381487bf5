#include "search/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.h"
#include "stage/checks.h"
#include "stage/norm.h"
#include "stage/values.h"

namespace id2vec {
namespace {

constexpr size_t kTileRows = 32;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Turns dot products into scores of which the greatest is the nearest.
class Nearness {
 public:
  static Result<Nearness> of(const Table& table, std::span<const float> norms, std::span<const float> query,
                             const NearestOptions& options) {
    Nearness nearness;
    nearness.metric_ = options.metric;
    nearness.norms_ = norms;
    nearness.query_squared_ = sum_of_squares(query.data(), query.size());
    nearness.query_norm_ = std::sqrt(nearness.query_squared_);
    if (options.exclude.empty()) return nearness;
    ID2VEC_ASSIGN(nearness.excluded_, Values<bool>::of(table.spec().rows));
    std::fill(nearness.excluded_.all().begin(), nearness.excluded_.all().end(), false);
    for (uint32_t id : options.exclude) nearness.excluded_[id] = true;
    return nearness;
  }

  Finish finish() const {
    return {[](const void* context, const ScoreBlock& block) {
              const auto& nearness = *static_cast<const Nearness*>(context);
              for (size_t i = 0; i < block.rows.count; ++i) {
                block.scores[i] = nearness.score(block.scores[i], block.rows[i]);
              }
            },
            this};
  }

  // What the caller sees of a score.
  float value(float score) const {
    return metric_ == Metric::kEuclidean ? static_cast<float>(std::sqrt(std::max(0.0, -double{score})))
                                         : score;
  }

 private:
  float score(float dot, uint64_t id) const {
    if (excluded_.size() != 0 && excluded_[id]) return -kInfinity;
    if (metric_ == Metric::kDot) return dot;
    const double norm = norms_[id];
    if (metric_ == Metric::kEuclidean) return static_cast<float>(2.0 * dot - norm * norm - query_squared_);
    const double lengths = norm * query_norm_;
    return lengths > 0 ? static_cast<float>(dot / lengths) : 0.0f;
  }

  Metric metric_ = Metric::kCosine;
  std::span<const float> norms_;
  double query_squared_ = 0, query_norm_ = 0;
  Values<bool> excluded_;
};

// target += sign · row / |row| for every id.
Status add_unit_rows(const Table& table, std::span<const uint32_t> ids, float sign, Values<float>& row,
                     std::span<float> target) {
  for (const uint32_t& id : ids) {
    ID2VEC_RETURN_IF_ERROR(table.lookup({&id, 1}, row.all()));
    scale_to_unit_length(row.data(), 1, row.size());
    for (size_t c = 0; c < target.size(); ++c) target[c] += sign * row[c];
  }
  return {};
}

}  // namespace

Status row_norms(const Table& table, std::span<float> norms) {
  const size_t width = table.spec().cols;
  ID2VEC_RETURN_IF_ERROR(check_length("norms", norms.size(), table.spec().rows, "one per row"));
  ID2VEC_ASSIGN(auto rows, Values<float>::of(kTileRows * width));
  uint32_t ids[kTileRows];
  for (size_t first = 0; first < norms.size(); first += kTileRows) {
    const size_t count = std::min(kTileRows, norms.size() - first);
    for (size_t i = 0; i < count; ++i) ids[i] = static_cast<uint32_t>(first + i);
    ID2VEC_RETURN_IF_ERROR(table.lookup({ids, count}, rows.first(count * width)));
    for (size_t i = 0; i < count; ++i) {
      norms[first + i] = static_cast<float>(std::sqrt(sum_of_squares(rows.data() + i * width, width)));
    }
  }
  return {};
}

Status nearest(const Table& table, std::span<const float> norms, std::span<const float> query, size_t k,
               const NearestOptions& options, TopK best) {
  ID2VEC_RETURN_IF_ERROR(check_length("the query", query.size(), table.spec().cols, "a row"));
  if (options.metric != Metric::kDot) {
    ID2VEC_RETURN_IF_ERROR(check_length("norms", norms.size(), table.spec().rows, "one per row"));
  }
  ID2VEC_RETURN_IF_ERROR(check_below(options.exclude, table.spec().rows, "Excluded id", "the vocabulary"));
  if (k == 0) return fail(Code::kInvalidArgument, "k has to be 1 or more.");
  ID2VEC_ASSIGN(const Nearness nearness, Nearness::of(table, norms, query, options));
  ID2VEC_RETURN_IF_ERROR(
      table.top_k(query, k, options.precision, {.limit = options.limit}, best, nearness.finish()));
  for (size_t i = 0; i < k; ++i) best.values[i] = nearness.value(best.values[i]);
  return {};
}

Status analogy_target(const Table& table, std::span<const uint32_t> positive,
                      std::span<const uint32_t> negative, std::span<float> target) {
  ID2VEC_RETURN_IF_ERROR(check_length("target", target.size(), table.spec().cols, "a row"));
  ID2VEC_RETURN_IF_ERROR(check_below(positive, table.spec().rows, "Positive id", "the vocabulary"));
  ID2VEC_RETURN_IF_ERROR(check_below(negative, table.spec().rows, "Negative id", "the vocabulary"));
  if (positive.empty()) return fail(Code::kInvalidArgument, "An analogy needs one positive id or more.");
  ID2VEC_ASSIGN(auto row, Values<float>::of(target.size()));
  std::fill(target.begin(), target.end(), 0.0f);
  ID2VEC_RETURN_IF_ERROR(add_unit_rows(table, positive, 1, row, target));
  ID2VEC_RETURN_IF_ERROR(add_unit_rows(table, negative, -1, row, target));
  scale_to_unit_length(target.data(), 1, target.size());
  return {};
}

}  // namespace id2vec

#include "training/input.h"

#include "core/array.h"
#include "core/text.h"
#include "training/vector.h"

namespace id2vec {
namespace {

Status out_of_memory() {
  return {Code::kOutOfMemory, "There is no memory left for the gradient of the bags."};
}

uint32_t row_of(std::span<const uint32_t> ids, const PoolOptions& options, size_t i) {
  return options.mapping.empty() ? ids[i] : options.mapping[ids[i]];
}

// The members of all bags: their rows, their factors and the bags whose gradient they get.
struct Members {
  Array<uint32_t> rows, bags;
  Array<float> factors;

  bool add(uint32_t row, uint32_t bag, float factor) {
    return rows.push_back(row) && bags.push_back(bag) && factors.push_back(factor);
  }
};

Status accumulate_sums(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options,
                       std::span<const float> d_pooled, bool scale_by_frequency, RowGradient& gradient) {
  Members members;
  for (size_t bag = 0; bag < bag_count(ids, options); ++bag) {
    const BagRange range = bag_range(ids, options, bag);
    size_t count = 0;
    for (size_t i = range.begin; i < range.end; ++i) count += is_bag_member(ids, options, i);
    const float share = options.mode == PoolMode::kMean ? 1.0f / static_cast<float>(count) : 1.0f;
    for (size_t i = range.begin; i < range.end; ++i) {
      if (!is_bag_member(ids, options, i)) continue;
      const float factor = share * bag_weight(table, ids, options, i);
      if (!members.add(row_of(ids, options, i), static_cast<uint32_t>(bag), factor)) return out_of_memory();
    }
  }
  return gradient.add({.ids = members.rows.span(),
                       .values = d_pooled,
                       .coefficients = members.factors.span(),
                       .sources = members.bags.span(),
                       .scale_by_frequency = scale_by_frequency});
}

Status accumulate_max(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options,
                      std::span<const float> d_pooled, bool scale_by_frequency, RowGradient& gradient) {
  const size_t cols = table.spec().cols;
  Array<uint32_t> rows;
  Array<float> terms, shares, best;
  Array<uint32_t> winners;
  if (!best.resize(cols) || !winners.resize(cols) || !terms.resize(cols)) return out_of_memory();
  for (size_t bag = 0; bag < bag_count(ids, options); ++bag) {
    const BagRange range = bag_range(ids, options, bag);
    const size_t first = rows.size();
    for (size_t i = range.begin; i < range.end; ++i) {
      if (!is_bag_member(ids, options, i)) continue;
      const uint32_t row = row_of(ids, options, i), member = static_cast<uint32_t>(rows.size());
      ID2VEC_RETURN_IF_ERROR(table.lookup({&row, 1}, terms.span()));
      if (!rows.push_back(row) || !shares.resize(rows.size() * cols)) return out_of_memory();
      const float weight = bag_weight(table, ids, options, i);
      for (size_t c = 0; c < cols; ++c) {
        const float term = weight * terms[c];
        if (member != first && !(term > best[c])) continue;
        if (member != first) shares[winners[c] * cols + c] = 0;
        best[c] = term;
        winners[c] = member;
        shares[member * cols + c] = weight * d_pooled[bag * cols + c];
      }
    }
  }
  return gradient.add(
      {.ids = rows.span(), .values = shares.span(), .scale_by_frequency = scale_by_frequency});
}

}  // namespace

Status accumulate_embed(std::span<const uint32_t> ids, std::span<const float> d_rows, double embedding_scale,
                        bool scale_by_frequency, RowGradient& gradient) {
  if (embedding_scale == 1) {
    return gradient.add({.ids = ids, .values = d_rows, .scale_by_frequency = scale_by_frequency});
  }
  Array<float> factors;
  if (!factors.resize(ids.size())) return out_of_memory();
  for (float& factor : factors) factor = static_cast<float>(embedding_scale);
  return gradient.add({.ids = ids,
                       .values = d_rows,
                       .coefficients = factors.span(),
                       .scale_by_frequency = scale_by_frequency});
}

Status accumulate_pool(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options,
                       std::span<const float> d_pooled, bool scale_by_frequency, RowGradient& gradient) {
  if (options.normalize || options.dimensions != 0) {
    return fail(Code::kUnsupported,
                "The gradient goes through sum, mean and max, not through normalize or dimensions; ",
                "differentiate those outside and pass the gradient of the plain pool.");
  }
  ID2VEC_RETURN_IF_ERROR(check_bags(table, ids, options));
  const size_t wanted = bag_count(ids, options) * table.spec().cols;
  if (d_pooled.size() != wanted) {
    return fail(Code::kInvalidArgument, "The gradient of the bags has ", d_pooled.size(), " values where [",
                bag_count(ids, options), ", ", table.spec().cols, "] are needed.");
  }
  if (!all_finite(d_pooled))
    return fail(Code::kInvalidArgument, "The gradient of the bags holds a value that is not finite.");
  return options.mode == PoolMode::kMax
             ? accumulate_max(table, ids, options, d_pooled, scale_by_frequency, gradient)
             : accumulate_sums(table, ids, options, d_pooled, scale_by_frequency, gradient);
}

}  // namespace id2vec

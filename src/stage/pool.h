// Pooling: many rows into one vector per bag, with the semantics of an embedding bag.
//
//   member:  an id that is not padding, not unknown where unknown ids are left out, and attended to
//   term:    w · E[mapping[id]], w = sample weight · weights[id] (each 1 where not given)
//   sum:     Σ terms                  mean: Σ terms / number of members         max: greatest term per column
//   an empty bag is all zeros; then the first `dimensions` columns are kept, then unit length on request
//
// The mean divides by the count of members, not by the sum of weights, as PyTorch, model2vec and smooth inverse
// frequency (Arora et al. 2017, equation 1) do. Terms are added in float, in the order of the ids.
#pragma once

#include <cstdint>
#include <span>

#include "core/status.h"
#include "table/table.h"

namespace id2vec {

enum class PoolMode : uint8_t { kMean, kSum, kMax };

struct PoolOptions {
  PoolMode mode = PoolMode::kMean;
  // Bags: bag b holds the ids from offsets[b] to offsets[b + 1] (the last one to the end); ascending, the first 0.
  // Empty: every run of `bag_length` ids is a bag.
  std::span<const uint32_t> offsets{};
  size_t bag_length = 0;
  std::span<const uint8_t> attention_mask{};  // [ids] of 0 and 1; empty: all 1
  std::span<const float> sample_weights{};    // [ids]; empty: all 1; not with max
  int64_t padding_id = -1;                    // left out of every bag; −1: none
  int64_t unknown_id = -1;                    // the same (model2vec drops unknown tokens)
  std::span<const uint32_t> mapping{};        // row of each id; empty: the id itself
  // Weights by id; where there is a mapping and as many weights as rows (and not as many as ids), by row.
  std::span<const float> weights{};
  uint32_t dimensions = 0;  // columns kept (Matryoshka); 0: all
  bool normalize = false;   // unit length; a vector of zeros stays
  // Where `table` holds just the rows of these ids, because the whole one is elsewhere: the row of `table` that the
  // id at each position has, and how many rows the whole one has. Empty: the table is the whole one.
  std::span<const uint32_t> places{};
  uint64_t whole_rows = 0;
};

size_t bag_count(std::span<const uint32_t> ids, const PoolOptions& options);
// Positions [begin, end) of the ids of a bag.
struct BagRange {
  size_t begin, end;
};
BagRange bag_range(std::span<const uint32_t> ids, const PoolOptions& options, size_t bag);
// Whether the id at position i counts in its bag.
bool is_bag_member(std::span<const uint32_t> ids, const PoolOptions& options, size_t i);
// The weight of the term at position i, for the row that its id is mapped to.
float bag_weight(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options, size_t i);
// Everything about ids, bags and weights that pool() checks.
Status check_bags(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options);
// Columns of the result.
size_t pool_width(const Table& table, const PoolOptions& options);

// out [bags, pool_width]. Checked before anything is written: kOutOfRange for ids and offsets, kInvalidArgument for
// lengths that do not fit, weights together with max, and more dimensions than columns.
Status pool(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options,
            std::span<float> out);

// Smooth inverse frequency (Arora et al. 2017): weights[i] = a / (a + p_i), p_i = counts[i] / Σ counts. kInvalidArgument
// for a ≤ 0, a negative count, or no count above 0.
Status sif_weights(std::span<const double> counts, double a, std::span<float> weights);
// The same where no counts are known, from the rank of the id by Zipf's law: p_i ∝ 1 / (i + 2) (model2vec).
Status sif_weights_by_rank(double a, std::span<float> weights);

}  // namespace id2vec

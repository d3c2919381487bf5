// Neighbours in a table, straight from its quantized rows.
//
//   dot        ⟨q, r⟩                                   greatest first
//   cosine     ⟨q, r⟩ / (|q| · |r|), 0 for a row of zeros greatest first
//   euclidean  |q − r| = √(|q|² + |r|² − 2⟨q, r⟩)        smallest first; near 0 the difference of large numbers, so
//              it is exact to about √ε · |r| there
#pragma once

#include <cstdint>
#include <span>

#include "core/status.h"
#include "table/table.h"

namespace id2vec {

enum class Metric : uint8_t { kCosine, kDot, kEuclidean };

// norms [V] = |row|, each from the dequantized row, summed in double. Computed once per table and kept by the caller.
Status row_norms(const Table& table, std::span<float> norms);

struct NearestOptions {
  Metric metric = Metric::kCosine;
  std::span<const uint32_t> exclude{};  // ids that are no neighbours (the query itself)
  uint64_t limit = UINT64_MAX;          // ids ≥ limit are no neighbours (rows beyond the tokenizer)
  Precision precision = Precision::kHigh;
};

// The k nearest rows of query [d]: best.values and best.indices [k], nearest first; equal ones by the lower id. Where
// there are fewer than k, the rest has index −1 and the value −∞ (∞ for euclidean). `norms` as row_norms() made them;
// not read for the dot metric. kInvalidArgument for lengths, kOutOfRange for an excluded id outside the table.
Status nearest(const Table& table, std::span<const float> norms, std::span<const float> query, size_t k,
               const NearestOptions& options, TopK best);

// target [d] = Σ row / |row| over `positive` − the same over `negative`, scaled to unit length: king − man + woman with
// every word at the same weight (3CosAdd: Levy & Goldberg 2014, section 3). Its neighbours by cosine, with the given ids
// excluded, answer the analogy.
Status analogy_target(const Table& table, std::span<const uint32_t> positive,
                      std::span<const uint32_t> negative, std::span<float> target);

}  // namespace id2vec

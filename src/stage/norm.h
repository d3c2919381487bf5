// Layer and RMS normalization of rows, in place. Sums run in double over four lanes (lane j adds the elements
// i ≡ j mod 4 in order; the lanes meet as (0 + 1) + (2 + 3)); each output is computed in double and rounded once.
//   layer norm: (x − mean) / √(variance + ε) · weight + bias, variance = Σ (x − mean)² / d
//   RMS norm:   x / √(Σ x² / d + ε) · weight
#pragma once

#include <span>

#include "core/status.h"
#include "model/profile.h"

namespace id2vec {

struct NormWeights {
  std::span<const float> weight{};  // [d]; empty: 1
  std::span<const float> bias{};    // [d]; empty: 0
};

// kInvalidArgument where weight or bias has another length than `width`.
Status check_norm(Norm norm, const NormWeights& weights, size_t width);
// rows [count, width]; weights as checked.
void normalize_rows(Norm norm, double epsilon, const NormWeights& weights, float* rows, size_t count,
                    size_t width);

// Σ x² in double, in the same order of lanes.
double sum_of_squares(const float* x, size_t width);
// Every row scaled to unit length; a row of zeros stays as it is.
void scale_to_unit_length(float* rows, size_t count, size_t width);

}  // namespace id2vec

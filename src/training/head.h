// The output side of training, for a float table E [V, d] that is also the head: logits z = s · h · Eᵀ.
//
//   ∂L/∂h = s · dz · E             [N, d]
//   ∂L/∂E = s · dzᵀ · h            [V, d], dense: every row gets a share in every step
//
// and, fused, the softmax cross-entropy over the vocabulary, in two passes over tiles of rows, so that no [N,
// V] array is ever held:
//
//   loss = Σ_n w_n · (log Σ_v exp z_nv − z_n,target)        dz = w_n · (softmax(z_n) − onehot(target))
//
// with w_n = 1 / (number of counted targets) for the mean and 1 for the sum.
#pragma once

#include <span>

#include "core/status.h"
#include "training/gradient.h"

namespace id2vec {

// A trainable table: float weights, row-major, [V, d].
struct FloatTable {
  const float* weights = nullptr;
  uint64_t rows = 0;
  uint32_t cols = 0;
};

// Adds the head's gradient for given dz [N, V] to `gradient` (made dense) and writes ∂L/∂h [N, d] to d_hidden
// (skipped if empty). kInvalidArgument for shapes that do not fit or values that are not finite.
Status accumulate_logits(const FloatTable& table, std::span<const float> hidden,
                         std::span<const float> d_logits, double logit_scale, RowGradient& gradient,
                         std::span<float> d_hidden);

struct CrossEntropyOptions {
  double logit_scale = 1;
  int64_t ignore_target = -1;  // targets with this value count for nothing
  bool mean = true;            // over the counted targets; otherwise the sum
};

// The loss, with its gradient in `gradient` and d_hidden as above. Targets [N] are ids < V or ignore_target.
// Everything is checked before anything is written. Without any counted target the loss is 0.
Result<double> accumulate_cross_entropy(const FloatTable& table, std::span<const float> hidden,
                                        std::span<const int64_t> targets, const CrossEntropyOptions& options,
                                        RowGradient& gradient, std::span<float> d_hidden);

}  // namespace id2vec

// The input side of training: from the gradient of what the first layer received to the gradient of the table.
//
//   embed (× scale, + positions, + token types):   ∂L/∂E[id_t] += scale · ∂L/∂x[t]        additions pass through
//   pool, sum and mean of bag b:                    ∂L/∂E[id_t] += w_t / n_b · ∂L/∂y[b]    n_b = members (sum: 1)
//   pool, max:           column c of ∂L/∂y[b] goes to the first member of b whose term is greatest in column c
#pragma once

#include <span>

#include "core/status.h"
#include "stage/pool.h"
#include "training/gradient.h"

namespace id2vec {

// d_rows [N, d]. Errors as in RowGradient::add.
Status accumulate_embed(std::span<const uint32_t> ids, std::span<const float> d_rows, double embedding_scale,
                        bool scale_by_frequency, RowGradient& gradient);

// d_pooled [bags, d]. kUnsupported for options whose gradient this is not (normalize, dimensions); otherwise the
// errors of pool() and of RowGradient::add. Nothing is added after an error.
Status accumulate_pool(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options,
                       std::span<const float> d_pooled, bool scale_by_frequency, RowGradient& gradient);

}  // namespace id2vec

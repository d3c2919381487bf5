// Optimizers that move only the rows that a step touched ("lazy"), so that rare tokens do not shrink while
// they are away. g is the gradient of a row, w the row, all operations element-wise in float32; λ is
// weight_decay.
//
//   sgd              w −= lr (g + λw)
//   momentum         b = μ b + (g + λw);                      w −= lr b
//   adagrad          s += g'²;                                w −= lr g' / (√s + ε)            g' = g + λw
//   rowwise-adagrad  s += mean(g'²), one s per row;           w −= lr g' / (√s + ε)
//   adam             m = β₁m + (1 − β₁)g';  v = β₂v + (1 − β₂)g'²
//                    w −= lr · m̂ / (√v̂ + ε),  m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)
//   adamw            w −= lr λ w first (decoupled), then adam with g' = g
//
// Sources: Duchi et al. 2011 (Adagrad); FBGEMM's EXACT_ROWWISE_ADAGRAD; Kingma and Ba 2015, algorithm 1
// (Adam); Loshchilov and Hutter 2019 (AdamW). t is the number of steps of the optimizer, as in PyTorch's
// SparseAdam; with `per_row_steps` it is the number of steps in which this row was touched. In dense mode
// every row moves in every step, untouched ones with g = 0: what a naive implementation does.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/array.h"
#include "core/bytes.h"
#include "core/status.h"
#include "training/gradient.h"
#include "training/row_map.h"

namespace id2vec {

enum class OptimizerKind : uint8_t { kSgd, kMomentum, kAdagrad, kRowwiseAdagrad, kAdam, kAdamW };

// kInvalidArgument that lists the names there are.
Result<OptimizerKind> optimizer_by_name(std::string_view name);

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kAdam;
  double learning_rate = 1e-3;
  double momentum = 0.9;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double initial_accumulator = 0;  // s before the first step (the two Adagrads)
  double clip_norm = 0;            // scales the whole gradient down to this L2 norm; 0: off
  double clip_value = 0;           // clamps every component to ± this; 0: off; applied before clip_norm
  double max_norm = 0;         // after a step, touched rows longer than this are scaled back to it; 0: off
  bool dense = false;
  bool per_row_steps = false;  // lazy Adam and AdamW only
};

class Optimizer {
 public:
  // kInvalidArgument names the option, its value and the range it must lie in.
  static Result<Optimizer> create(const OptimizerOptions& options, uint64_t rows, uint32_t cols);

  // Applies `gradient` to `weights` [V, d] and counts one step. All memory is reserved and the gradient is
  // checked before anything moves: after an error, weights and state are as before. Row `padding_id` of the
  // gradient stays.
  Status step(RowGradient& gradient, float* weights);

  uint64_t steps() const { return steps_; }
  // Bytes of optimizer state, proportional to the rows that were ever touched (to V in dense mode).
  uint64_t state_bytes() const;
  size_t state_rows() const {
    return options_.dense ? static_cast<size_t>(dense_ready_ ? rows_ : 0) : map_.size();
  }
  const OptimizerOptions& options() const { return options_; }
  double learning_rate() const { return options_.learning_rate; }
  Status set_learning_rate(double learning_rate);

  // State as bytes, little-endian: see optimizer_state.cpp for the layout. restore() refuses, before it
  // changes anything, a state of another kind, shape or length.
  Status save(Array<uint8_t>& bytes) const;
  Status restore(Bytes bytes);

 private:
  Optimizer(const OptimizerOptions& options, uint64_t rows, uint32_t cols)
      : options_(options), rows_(rows), cols_(cols) {}

  // Floats of state per row in each of the two arrays.
  struct StateWidths {
    size_t first, second;
  };
  StateWidths widths() const;
  bool has_row_steps() const;
  Status reserve_state(std::span<const uint32_t> ids);
  void initialise(size_t from_slot);
  size_t slot_of(uint32_t id) const { return options_.dense ? id : map_.find(id); }
  void update_row(uint32_t id, float* weights, const float* gradient);

  OptimizerOptions options_;
  uint64_t rows_;
  uint32_t cols_;
  uint64_t steps_ = 0;
  bool dense_ready_ = false;
  RowMap map_;                 // lazy: id → slot
  Array<float> first_;         // momentum buffer, sum of squares, or m
  Array<float> second_;        // v
  Array<uint32_t> row_steps_;  // per-row step counts, where asked for
};

}  // namespace id2vec

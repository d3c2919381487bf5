// ∂L/∂E as the rows that a step touched.
//
//   ∂L/∂E[i] = Σ_{t : id_t = i} ∂L/∂X[t]          rows that no id names are exactly zero and are not stored
//
// Sums run in the order of the calls and, inside a call, of t; so equal calls give equal bits. Any other
// order of the n summands of a weight differs by at most 2 (n − 1) · 2⁻²⁴ · Σ|summand| (float32 sums). A tied
// head touches every row; the gradient is then held densely.
#pragma once

#include <span>

#include "core/status.h"
#include "training/row_map.h"

namespace id2vec {

class RowGradient {
 public:
  // padding_id: a row that gets no gradient; −1 for none.
  RowGradient(uint64_t rows, uint32_t cols, int64_t padding_id = -1)
      : rows_(rows), cols_(cols), padding_id_(padding_id) {}

  // Row ids[t] += coefficients[t] · values[sources[t]].
  struct Rows {
    std::span<const uint32_t> ids;          // [N]
    std::span<const float> values;          // [M, d], M = N where `sources` is empty
    std::span<const float> coefficients{};  // [N], or empty: 1
    std::span<const uint32_t> sources{};    // [N], each < M, or empty: t
    bool scale_by_frequency = false;        // divide by the count of the id in this call
  };
  // kOutOfRange for an id ≥ V, kInvalidArgument for shapes that do not fit and for values that are not
  // finite, kOutOfMemory; the gradient is then as it was.
  Status add(const Rows& rows);

  // Makes every row present, so that row(id) is never null afterwards. kOutOfMemory leaves it as it was.
  Status make_dense();
  bool dense() const { return dense_; }

  // Values of one touched row [d]; null for an untouched one.
  float* row(uint32_t id);
  const float* row(uint32_t id) const { return const_cast<RowGradient*>(this)->row(id); }

  size_t touched() const { return dense_ ? static_cast<size_t>(rows_) : map_.size(); }
  // The touched ids in ascending order.
  Status sorted_ids(Array<uint32_t>& ids) const;

  // kInvalidArgument that names the first touched row with a value that is not finite.
  Status check_finite() const;
  // Σ of squares over all values, in double.
  double squared_norm() const;
  // Clamps every value to ± max_value, then scales all down to an L2 norm of max_norm; 0 turns either off.
  void clip(double max_value, double max_norm);

  void clear();
  uint64_t rows() const { return rows_; }
  uint32_t cols() const { return cols_; }
  int64_t padding_id() const { return padding_id_; }
  uint64_t bytes() const { return map_.bytes() + values_.capacity_bytes(); }

 private:
  Status check(const Rows& rows) const;
  Status touch(std::span<const uint32_t> ids);
  bool is_padding(uint32_t id) const { return static_cast<int64_t>(id) == padding_id_; }

  uint64_t rows_;
  uint32_t cols_;
  int64_t padding_id_;
  bool dense_ = false;
  RowMap map_;           // empty while dense
  Array<float> values_;  // [slots, d], or [V, d] while dense
};

}  // namespace id2vec

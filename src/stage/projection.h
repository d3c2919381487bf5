// A linear layer whose weight is a Table in any format: y = x · Pᵀ + bias, P [out, in]; or, transposed, y = x · P,
// P [in, out], summed row by row in order (the head side of a factorized table, which stores one matrix for both).
#pragma once

#include <span>

#include "core/status.h"
#include "table/table.h"

namespace id2vec {

struct Projection {
  const Table* matrix = nullptr;  // null: the identity
  bool transposed = false;
  std::span<const float> bias{};  // [out]; empty: 0

  explicit operator bool() const { return matrix != nullptr; }
  size_t input_width() const { return transposed ? matrix->spec().rows : matrix->spec().cols; }
  size_t output_width() const { return transposed ? matrix->spec().cols : matrix->spec().rows; }
};

// kInvalidArgument where the matrix does not take vectors of `width`, or the bias does not fit its output.
Status check_projection(const Projection& projection, size_t width);
// x [count, in] → y [count, out]; y is apart from x.
Status project(const Projection& projection, std::span<const float> x, size_t count, std::span<float> y);

}  // namespace id2vec

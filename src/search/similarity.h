// How the rows of a sequence stand to each other.
#pragma once

#include <span>

#include "core/status.h"
#include "search/nearest.h"

namespace id2vec {

// out [N, N]: entry (i, j) compares vectors i and j of `vectors` [N, width], by the formulas of search/nearest.h; sums
// run in double. Symmetric, both halves written.
Status similarity_matrix(std::span<const float> vectors, size_t width, Metric metric, std::span<float> out);

// Principal components in the plane: out [N, 2] = coordinates of the centred vectors X [N, width] along the two
// directions of greatest variance, and explained [2] = the shares of the variance that they hold. The two directions
// are found by orthogonal iteration with XᵀX in double (Golub & Van Loan, section 8.2.4), never forming the matrix,
// until neither turns by more than 5e-8 or 300 rounds have passed: where the second and third variance are nearly
// equal, the second axis is then any direction of that nearly round plane. Signs are free; each axis points where its
// coordinate of largest magnitude is positive. kInvalidArgument for fewer than two vectors.
Status principal_plane(std::span<const float> vectors, size_t width, std::span<float> out,
                       std::span<float> explained);

}  // namespace id2vec

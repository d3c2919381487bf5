// The eigenvalues and eigenvectors of a symmetric matrix, by Eigen's tridiagonal QR iteration. A file of its own, because
// Eigen's code is as large as the rest of the core: only the module that factorizes links it.
#pragma once

#include <span>

#include "core/status.h"

namespace id2vec {

// matrix [n, n], symmetric (its lower triangle is read) → its unit eigenvectors as rows, by descending eigenvalue;
// values [n], descending. kOutOfMemory where there is no room for three more matrices of that size, kInvalidArgument
// where the matrix is not finite or its size is not n².
Status symmetric_eigen(std::span<double> matrix, std::span<double> values);

}  // namespace id2vec

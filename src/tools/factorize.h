// Factorizes a table: E [V, d] ≈ A · B with A [V, k] and B [k, d], by truncated singular value decomposition.
//
//   G = Eᵀ E  [d, d]           gram_matrix(): summed in double over the table's rows
//   G = Q Λ Qᵀ                 symmetric_eigen(): λ_i = σ_i², the squared singular values of E
//   B = the first k rows of Qᵀ, A = E · Bᵀ
//
// Among all factors of rank k these leave the smallest error (Eckart & Young 1936): ‖E − A·B‖² = Σ_{i>k} σ_i².
// Neither E nor A·B is ever expanded. A model then looks up A[ids] · B, and scores (h · Bᵀ) · Aᵀ.
#pragma once

#include <memory>
#include <span>

#include "core/status.h"
#include "table/table.h"

namespace id2vec {

// gram [d, d], symmetric.
Status gram_matrix(const Table& table, std::span<double> gram);

// √(Σ_{i≥rank} λ_i / Σ λ_i), the relative error that no factors of this rank can beat. Negative eigenvalues, which only
// rounding makes, count as 0.
double optimal_relative_error(std::span<const double> eigenvalues, size_t rank);

struct FactorizeReport {
  uint64_t parameters = 0;       // V · k + k · d
  uint64_t bytes = 0;
  double relative_error = 0;     // ‖E − A·B‖ / ‖E‖ over the whole table, A and B as they are stored
  double top1_agreement = 0;     // of hidden vectors, the share whose best id is the same with both tables
  uint32_t sampled_vectors = 0;  // the hidden vectors: rows of E, evenly spaced, up to 256
};

struct Factors {
  std::unique_ptr<Table> rows;        // A [V, k]
  std::unique_ptr<Table> projection;  // Bᵀ [d, k], F32: one matrix for both directions
  FactorizeReport report;
};

// basis [k, d]: orthonormal rows, B. A is stored as `dtype`. kInvalidArgument where the basis has no whole number of
// rows, kUnsupported where there is no encoder for dtype, kOutOfMemory where A as floats does not fit.
Result<Factors> factorize(const Table& table, std::span<const float> basis, const Dtype& dtype);

}  // namespace id2vec

#include "tools/symmetric_eigen.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/text.h"

namespace id2vec {
namespace {

// Eigen's allocations cannot fail gently, so they are tried here first.
bool has_room(size_t bytes) {
  void* room = std::malloc(bytes);
  std::free(room);
  return room != nullptr;
}

}  // namespace

Status symmetric_eigen(std::span<double> matrix, std::span<double> values) {
  const size_t n = values.size();
  if (matrix.size() != n * n) {
    return fail(Code::kInvalidArgument, "A matrix of ", matrix.size(), " values does not have ", n,
                " rows and columns.");
  }
  if (!std::all_of(matrix.begin(), matrix.end(), [](double value) { return std::isfinite(value); })) {
    return fail(Code::kInvalidArgument,
                "The matrix holds values that are not finite, so it has no eigenvalues.");
  }
  if (!has_room(3 * matrix.size_bytes())) {
    return fail(Code::kOutOfMemory, "There is no memory for the eigenvectors of a matrix of ", n, " rows.");
  }
  const auto size = static_cast<Eigen::Index>(n);
  Eigen::Map<Eigen::MatrixXd> map(matrix.data(), size, size);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(map);
  if (solver.info() != Eigen::Success) {
    return fail(Code::kInvalidArgument, "The eigenvalues of the matrix did not converge.");
  }
  for (Eigen::Index i = 0; i < size; ++i) {
    values[static_cast<size_t>(i)] = solver.eigenvalues()(size - 1 - i);
    std::copy_n(solver.eigenvectors().col(size - 1 - i).data(), n,
                matrix.data() + static_cast<size_t>(i) * n);
  }
  return {};
}

}  // namespace id2vec

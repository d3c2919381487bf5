#include "tools/factorize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/text.h"
#include "stage/checks.h"
#include "stage/output.h"
#include "stage/values.h"
#include "tools/quantize.h"

namespace id2vec {
namespace {

constexpr size_t kTileRows = 64;
constexpr uint32_t kMostSamples = 256;

// Calls use(first row, count, rows [count, d]) for tile after tile of a table.
template <class Use>
Status for_tiles(const Table& table, Use use) {
  const size_t width = table.spec().cols;
  ID2VEC_ASSIGN(auto rows, Values<float>::of(kTileRows * width));
  uint32_t ids[kTileRows];
  for (uint64_t first = 0; first < table.spec().rows; first += kTileRows) {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(kTileRows, table.spec().rows - first));
    for (size_t i = 0; i < count; ++i) ids[i] = static_cast<uint32_t>(first + i);
    ID2VEC_RETURN_IF_ERROR(table.lookup({ids, count}, rows.first(count * width)));
    ID2VEC_RETURN_IF_ERROR(
        use(static_cast<size_t>(first), count, std::span<const float>(rows.first(count * width))));
  }
  return {};
}

// gram += rowsᵀ rows, lower triangle: for each column the products of a whole tile, so that a row of the Gram matrix
// is loaded once per tile.
void add_products(std::span<const float> rows, size_t count, size_t width, double* gram) {
  for (size_t i = 0; i < width; ++i) {
    double* sums = gram + i * width;
    for (size_t r = 0; r < count; ++r) {
      const float* row = rows.data() + r * width;
      const double factor = row[i];
      for (size_t j = 0; j <= i; ++j) sums[j] += factor * row[j];
    }
  }
}

Result<std::unique_ptr<Table>> float_table(uint64_t rows, size_t cols, const KernelTable& kernels) {
  return Table::allocate({dtype_by_name("F32"), rows, static_cast<uint32_t>(cols), {}}, kernels);
}

float* floats_of(Table& table) { return reinterpret_cast<float*>(table.plane(0).data()); }

// B as a table [k, d], whose dot products with rows of E are rows of A; and Bᵀ.
Result<std::unique_ptr<Table>> basis_table(std::span<const float> basis, size_t width, bool transposed,
                                           const KernelTable& kernels) {
  const size_t rank = basis.size() / width;
  ID2VEC_ASSIGN(auto table,
                transposed ? float_table(width, rank, kernels) : float_table(rank, width, kernels));
  float* to = floats_of(*table);
  for (size_t k = 0; k < rank; ++k) {
    for (size_t c = 0; c < width; ++c)
      (transposed ? to[c * rank + k] : to[k * width + c]) = basis[k * width + c];
  }
  return table;
}

Result<std::unique_ptr<Table>> coordinates(const Table& table, const Table& basis) {
  const size_t rank = static_cast<size_t>(basis.spec().rows);
  ID2VEC_ASSIGN(auto out, float_table(table.spec().rows, rank, table.kernels()));
  float* to = floats_of(*out);
  ID2VEC_RETURN_IF_ERROR(for_tiles(table, [&](size_t first, size_t count, std::span<const float> rows) {
    return basis.logits(rows, Precision::kHigh, {}, {to + first * rank, count * rank});
  }));
  return out;
}

// ‖E − A·B‖ / ‖E‖
Result<double> measure_error(const Table& table, const Factors& factors) {
  const size_t width = table.spec().cols, rank = factors.rows->spec().cols;
  ID2VEC_ASSIGN(auto a, Values<float>::of(kTileRows * rank));
  ID2VEC_ASSIGN(auto ab, Values<float>::of(kTileRows * width));
  double error = 0, total = 0;
  ID2VEC_RETURN_IF_ERROR(
      for_tiles(table, [&](size_t first, size_t count, std::span<const float> rows) -> Status {
        uint32_t ids[kTileRows];
        for (size_t i = 0; i < count; ++i) ids[i] = static_cast<uint32_t>(first + i);
        ID2VEC_RETURN_IF_ERROR(factors.rows->lookup({ids, count}, a.first(count * rank)));
        ID2VEC_RETURN_IF_ERROR(
            factors.projection->logits(a.first(count * rank), Precision::kHigh, {}, ab.first(count * width)));
        for (size_t i = 0; i < rows.size(); ++i) {
          const double difference = double{rows[i]} - ab[i];
          error += difference * difference;
          total += double{rows[i]} * rows[i];
        }
        return {};
      }));
  return total > 0 ? std::sqrt(error / total) : 0.0;
}

Status measure_agreement(const Table& table, Factors& factors) {
  FactorizeReport& report = factors.report;
  report.sampled_vectors = static_cast<uint32_t>(std::min<uint64_t>(kMostSamples, table.spec().rows));
  ID2VEC_ASSIGN(auto hidden, Values<float>::of(table.spec().cols));
  const OutputStage factorized{.head = factors.rows.get(),
                               .projection = {factors.projection.get(), true, {}}};
  uint32_t same = 0;
  for (uint32_t i = 0; i < report.sampled_vectors; ++i) {
    const auto id = static_cast<uint32_t>(i * table.spec().rows / report.sampled_vectors);
    float value;
    int32_t best[2];
    ID2VEC_RETURN_IF_ERROR(table.lookup({&id, 1}, hidden.all()));
    ID2VEC_RETURN_IF_ERROR(table.top_k(hidden.all(), 1, Precision::kHigh, {}, {&value, &best[0], nullptr}));
    ID2VEC_RETURN_IF_ERROR(head_top_k({}, factorized, hidden.all(), 1, {}, {&value, &best[1], nullptr}));
    same += best[0] == best[1];
  }
  report.top1_agreement = report.sampled_vectors > 0 ? double(same) / report.sampled_vectors : 1;
  return {};
}

}  // namespace

Status gram_matrix(const Table& table, std::span<double> gram) {
  const size_t width = table.spec().cols;
  ID2VEC_RETURN_IF_ERROR(check_length("gram", gram.size(), width * width, "[d, d]"));
  std::fill(gram.begin(), gram.end(), 0.0);
  ID2VEC_RETURN_IF_ERROR(for_tiles(table, [&](size_t, size_t count, std::span<const float> rows) -> Status {
    add_products(rows, count, width, gram.data());
    return {};
  }));
  for (size_t i = 0; i < width; ++i) {
    for (size_t j = 0; j < i; ++j) gram[j * width + i] = gram[i * width + j];
  }
  return {};
}

double optimal_relative_error(std::span<const double> eigenvalues, size_t rank) {
  double left = 0, total = 0;
  for (size_t i = eigenvalues.size(); i-- > 0;) {  // the small ones first
    const double value = std::max(eigenvalues[i], 0.0);
    if (i >= rank) left += value;
    total += value;
  }
  return total > 0 ? std::sqrt(left / total) : 0.0;
}

Result<Factors> factorize(const Table& table, std::span<const float> basis, const Dtype& dtype) {
  const size_t width = table.spec().cols;
  if (basis.empty() || basis.size() % width != 0) {
    return fail(Code::kInvalidArgument, "A basis of ", basis.size(),
                " values has no whole number of rows of ", width, ".");
  }
  Factors factors;
  ID2VEC_ASSIGN(const auto forward, basis_table(basis, width, false, table.kernels()));
  ID2VEC_ASSIGN(factors.projection, basis_table(basis, width, true, table.kernels()));
  ID2VEC_ASSIGN(factors.rows, coordinates(table, *forward));
  if (dtype.name != "F32") {
    ID2VEC_ASSIGN(factors.rows, quantize_table(*factors.rows, dtype));
  }
  const uint64_t rank = basis.size() / width;
  factors.report.parameters = rank * (table.spec().rows + width);
  factors.report.bytes = factors.rows->bytes() + factors.projection->bytes();
  ID2VEC_ASSIGN(factors.report.relative_error, measure_error(table, factors));
  ID2VEC_RETURN_IF_ERROR(measure_agreement(table, factors));
  return factors;
}

}  // namespace id2vec

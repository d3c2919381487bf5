// Factorization against what no other factors can beat.
#include "tools/factorize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_table.h"
#include "small_table.h"
#include "stage/input.h"
#include "stage/output.h"
#include "tools/symmetric_eigen.h"

namespace id2vec {
namespace {

struct Spectrum {
  std::vector<double> vectors, values;  // [d, d] rows by descending value
};

Spectrum spectrum_of(const Table& table) {
  const size_t width = table.spec().cols;
  Spectrum spectrum{std::vector<double>(width * width), std::vector<double>(width)};
  EXPECT_TRUE(gram_matrix(table, spectrum.vectors).ok());
  EXPECT_TRUE(symmetric_eigen(spectrum.vectors, spectrum.values).ok());
  return spectrum;
}

std::vector<float> basis_of(const Spectrum& spectrum, size_t rank) {
  const size_t width = spectrum.values.size();
  return {spectrum.vectors.begin(), spectrum.vectors.begin() + rank * width};
}

// Rows whose columns matter less and less, mixed by a rotation of neighbours.
std::unique_ptr<Table> decaying_table(uint64_t rows, uint32_t cols) {
  std::vector<float> values = random_floats(rows * cols, 5);
  for (uint64_t r = 0; r < rows; ++r) {
    float* row = values.data() + r * cols;
    for (uint32_t c = 0; c < cols; ++c) row[c] *= std::exp(-0.12f * c);
    for (uint32_t c = 0; c + 1 < cols; ++c) {
      const float a = row[c], b = row[c + 1];
      row[c] = 0.8f * a - 0.6f * b;
      row[c + 1] = 0.6f * a + 0.8f * b;
    }
  }
  return float_table(rows, cols, values);
}

TEST(SymmetricEigen, OrdersByValueAndSolves) {
  std::vector<double> matrix = {2, 1, 0, 1, 2, 0, 0, 0, 5}, values(3);
  ASSERT_TRUE(symmetric_eigen(matrix, values).ok());
  EXPECT_NEAR(values[0], 5, 1e-12);
  EXPECT_NEAR(values[1], 3, 1e-12);
  EXPECT_NEAR(values[2], 1, 1e-12);
  EXPECT_NEAR(std::fabs(matrix[2]), 1, 1e-12);  // (0, 0, ±1)
  EXPECT_NEAR(matrix[3], matrix[4], 1e-12);     // ±(1, 1, 0) / √2
  EXPECT_NEAR(std::fabs(matrix[3]), std::sqrt(0.5), 1e-12);
  matrix[4] = std::nan("");
  EXPECT_EQ(symmetric_eigen(matrix, values).code(), Code::kInvalidArgument);
  EXPECT_EQ(symmetric_eigen(std::span(matrix).first(8), values).code(), Code::kInvalidArgument);
}

TEST(Factorize, TheGramMatrixIsTheProduct) {
  const auto table = float_table(2, 3, {1, 2, 3, 4, 5, 6});
  std::vector<double> gram(9);
  ASSERT_TRUE(gram_matrix(*table, gram).ok());
  EXPECT_EQ(gram, (std::vector<double>{17, 22, 27, 22, 29, 36, 27, 36, 45}));
}

// The error that is measured row by row is the one that the singular values promise.
TEST(Factorize, ReachesTheOptimalError) {
  const auto table = decaying_table(500, 48);
  const Spectrum spectrum = spectrum_of(*table);
  for (size_t rank : {1, 8, 24, 47}) {
    const auto factors = factorize(*table, basis_of(spectrum, rank), *dtype_by_name("F32"));
    ASSERT_TRUE(factors.ok()) << factors.status().message();
    const FactorizeReport& report = factors.value().report;
    EXPECT_NEAR(report.relative_error / optimal_relative_error(spectrum.values, rank), 1, 0.001) << rank;
    EXPECT_EQ(report.parameters, rank * (500 + 48));
    EXPECT_EQ(report.bytes, rank * (500 + 48) * 4);
  }
  const auto full = factorize(*table, basis_of(spectrum, 48), *dtype_by_name("F32"));
  EXPECT_LT(full.value().report.relative_error, 1e-5);
  EXPECT_EQ(full.value().report.top1_agreement, 1);
}

// lookup = A[ids] · B and logits = (h · Bᵀ) · Aᵀ, through the stages, at full rank equal to the table itself.
TEST(Factorize, TheFactorsStandForTheTable) {
  const auto table = decaying_table(100, 16);
  auto factors = factorize(*table, basis_of(spectrum_of(*table), 16), *dtype_by_name("F32"));
  ASSERT_TRUE(factors.ok());
  const InputStage input{.embedding = factors.value().rows.get(),
                         .projection = {.matrix = factors.value().projection.get()}};
  const OutputStage output{.head = factors.value().rows.get(),
                           .projection = {.matrix = factors.value().projection.get(), .transposed = true}};
  Profile profile;
  profile.projection_first = true;
  const std::vector<uint32_t> ids = {3, 99, 0};
  std::vector<float> rows(48), expected(48);
  ASSERT_TRUE(embed(profile, input, ids, {.shape = {1, 3}}, rows).ok());
  ASSERT_TRUE(table->lookup(ids, expected).ok());
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], expected[i], 1e-5) << i;
  std::vector<float> scores(300), wanted(300);
  ASSERT_TRUE(head_logits({}, output, expected, {}, scores).ok());
  ASSERT_TRUE(table->logits(expected, Precision::kHigh, {}, wanted).ok());
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], wanted[i], 1e-4) << i;
}

TEST(Factorize, StoresItsRowsInAFormat) {
  const auto table = decaying_table(200, 64);
  const Spectrum spectrum = spectrum_of(*table);
  const auto factors = factorize(*table, basis_of(spectrum, 32), *dtype_by_name("Q8_0"));
  ASSERT_TRUE(factors.ok()) << factors.status().message();
  EXPECT_EQ(factors.value().rows->spec().dtype->name, "Q8_0");
  EXPECT_EQ(factors.value().report.bytes, 200u * 34 + 64 * 32 * 4);
  const double optimal = optimal_relative_error(spectrum.values, 32);
  EXPECT_GT(factors.value().report.relative_error, optimal);
  EXPECT_LT(factors.value().report.relative_error, optimal + 0.01);
}

TEST(Factorize, Refuses) {
  const auto table = decaying_table(10, 8);
  EXPECT_EQ(factorize(*table, std::vector<float>(7), *dtype_by_name("F32")).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(factorize(*table, std::vector<float>(8), *dtype_by_name("IQ1_S")).status().code(),
            Code::kUnsupported);
  std::vector<double> small(4);
  EXPECT_EQ(gram_matrix(*table, small).code(), Code::kInvalidArgument);
}

TEST(Factorize, TheOptimalErrorOfASpectrum) {
  const std::vector<double> values = {16, 9, 0, -1e-12};
  EXPECT_DOUBLE_EQ(optimal_relative_error(values, 0), 1);
  EXPECT_DOUBLE_EQ(optimal_relative_error(values, 1), 0.6);
  EXPECT_DOUBLE_EQ(optimal_relative_error(values, 2), 0);
}

}  // namespace
}  // namespace id2vec

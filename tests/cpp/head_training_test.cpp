#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "training/head.h"
#include "training/initialise.h"

namespace id2vec {
namespace {

// Softmax cross-entropy of a tied head in double precision, from its definition.
double loss_of(const std::vector<double>& table, const std::vector<double>& hidden,
               const std::vector<int64_t>& targets, size_t cols, double scale) {
  const size_t rows = table.size() / cols;
  double loss = 0;
  size_t counted = 0;
  for (size_t n = 0; n < targets.size(); ++n) {
    if (targets[n] < 0) continue;
    ++counted;
    std::vector<double> z(rows);
    double sum = 0;
    for (size_t v = 0; v < rows; ++v) {
      for (size_t i = 0; i < cols; ++i) z[v] += scale * table[v * cols + i] * hidden[n * cols + i];
      sum += std::exp(z[v]);
    }
    loss += std::log(sum) - z[targets[n]];
  }
  return loss / counted;
}

struct Case {
  std::vector<float> table, hidden;
  std::vector<int64_t> targets;
};

Case make_case(size_t rows, size_t cols, size_t count) {
  Case c{std::vector<float>(rows * cols), std::vector<float>(count * cols), {}};
  fill_normal(c.table, 0.7, 1);
  fill_normal(c.hidden, 1, 2);
  for (size_t n = 0; n < count; ++n) c.targets.push_back(n == 1 ? -1 : static_cast<int64_t>((n * 37) % rows));
  return c;
}

TEST(CrossEntropy, GradientsAgreeWithCentralDifferencesInDouble) {
  constexpr size_t kRows = 71, kCols = 9, kCount = 4;  // beyond one tile of rows and one vector of lanes
  const Case c = make_case(kRows, kCols, kCount);
  const double scale = 0.8;
  RowGradient gradient(kRows, kCols);
  std::vector<float> d_hidden(c.hidden.size());
  const Result<double> loss = accumulate_cross_entropy({c.table.data(), kRows, kCols}, c.hidden, c.targets,
                                                       {.logit_scale = scale}, gradient, d_hidden);
  ASSERT_TRUE(loss.ok()) << loss.status().message();
  std::vector<double> table(c.table.begin(), c.table.end()), hidden(c.hidden.begin(), c.hidden.end());
  EXPECT_NEAR(loss.value(), loss_of(table, hidden, c.targets, kCols, scale), 1e-6);
  const auto slope = [&](double& variable) {
    const double step = 1e-5, kept = variable;
    variable = kept + step;
    const double above = loss_of(table, hidden, c.targets, kCols, scale);
    variable = kept - step;
    const double below = loss_of(table, hidden, c.targets, kCols, scale);
    variable = kept;
    return (above - below) / (2 * step);
  };
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_NEAR(gradient.row(i / kCols)[i % kCols], slope(table[i]), 2e-6) << "weight " << i;
  }
  for (size_t i = 0; i < hidden.size(); ++i)
    EXPECT_NEAR(d_hidden[i], slope(hidden[i]), 2e-6) << "hidden " << i;
  for (size_t i = 0; i < kCols; ++i) EXPECT_EQ(d_hidden[kCols + i], 0.0f);  // the ignored target
}

TEST(CrossEntropy, BothEndsAddUpInOneTiedTable) {
  constexpr size_t kRows = 6, kCols = 4;
  const Case c = make_case(kRows, kCols, 3);
  const FloatTable table{c.table.data(), kRows, kCols};
  const std::vector<uint32_t> ids = {3, 1, 3};
  const std::vector<float> d_rows = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  RowGradient input(kRows, kCols), output(kRows, kCols), both(kRows, kCols);
  ASSERT_TRUE(input.add({.ids = ids, .values = d_rows}).ok());
  ASSERT_TRUE(accumulate_cross_entropy(table, c.hidden, c.targets, {}, output, {}).ok());
  ASSERT_TRUE(both.add({.ids = ids, .values = d_rows}).ok());
  ASSERT_TRUE(accumulate_cross_entropy(table, c.hidden, c.targets, {}, both, {}).ok());
  for (uint32_t row = 0; row < kRows; ++row) {
    for (size_t i = 0; i < kCols; ++i) {
      const float sparse = input.row(row) == nullptr ? 0 : input.row(row)[i];
      EXPECT_NEAR(both.row(row)[i], sparse + output.row(row)[i], 1e-5);
    }
  }
}

TEST(CrossEntropy, EqualsExplicitLogitGradients) {
  constexpr size_t kRows = 130, kCols = 5, kCount = 3;
  const Case c = make_case(kRows, kCols, kCount);
  std::vector<float> d_logits(kCount * kRows);
  for (size_t n = 0; n < kCount; ++n) {
    if (c.targets[n] < 0) continue;
    std::vector<double> p(kRows);
    double sum = 0;
    for (size_t v = 0; v < kRows; ++v) {
      for (size_t i = 0; i < kCols; ++i) p[v] += double{c.table[v * kCols + i]} * c.hidden[n * kCols + i];
      sum += p[v] = std::exp(p[v]);
    }
    for (size_t v = 0; v < kRows; ++v) {
      d_logits[n * kRows + v] =
          static_cast<float>((p[v] / sum - (static_cast<int64_t>(v) == c.targets[n])) / 2);
    }
  }
  RowGradient fused(kRows, kCols), explicit_gradient(kRows, kCols);
  std::vector<float> fused_hidden(kCount * kCols), explicit_hidden(kCount * kCols);
  const FloatTable table{c.table.data(), kRows, kCols};
  ASSERT_TRUE(accumulate_cross_entropy(table, c.hidden, c.targets, {}, fused, fused_hidden).ok());
  ASSERT_TRUE(accumulate_logits(table, c.hidden, d_logits, 1, explicit_gradient, explicit_hidden).ok());
  for (size_t i = 0; i < kRows * kCols; ++i) {
    EXPECT_NEAR(fused.row(i / kCols)[i % kCols], explicit_gradient.row(i / kCols)[i % kCols], 1e-6);
  }
  for (size_t i = 0; i < fused_hidden.size(); ++i) EXPECT_NEAR(fused_hidden[i], explicit_hidden[i], 1e-6);
}

TEST(CrossEntropy, LargeLogitsDoNotOverflow) {
  const std::vector<float> weights = {1000, -1000, 999};
  const std::vector<float> hidden = {1};
  const std::vector<int64_t> targets = {2};
  RowGradient gradient(3, 1);
  const Result<double> loss =
      accumulate_cross_entropy({weights.data(), 3, 1}, hidden, targets, {}, gradient, {});
  ASSERT_TRUE(loss.ok());
  EXPECT_NEAR(loss.value(), std::log1p(std::exp(1.0)), 1e-12);  // log(e⁰ + e⁻¹) + 1
}

TEST(CrossEntropy, RefusesWrongInputAndChangesNothing) {
  const Case c = make_case(10, 4, 2);
  const FloatTable table{c.table.data(), 10, 4};
  RowGradient gradient(10, 4);
  const std::vector<int64_t> outside = {0, 10};
  std::vector<float> with_nan = c.hidden;
  with_nan[3] = NAN;
  std::vector<float> kept(8, 42.0f);
  EXPECT_EQ(accumulate_cross_entropy(table, c.hidden, outside, {}, gradient, kept).status().code(),
            Code::kOutOfRange);
  EXPECT_FALSE(accumulate_cross_entropy(table, with_nan, c.targets, {}, gradient, kept).ok());
  EXPECT_FALSE(
      accumulate_cross_entropy(table, std::span(c.hidden).first(5), c.targets, {}, gradient, kept).ok());
  EXPECT_FALSE(accumulate_logits(table, c.hidden, std::vector<float>(19), 1, gradient, kept).ok());
  EXPECT_EQ(kept, std::vector<float>(8, 42.0f));
  EXPECT_EQ(gradient.touched(), 0u);
}

TEST(FillNormal, HasTheRightMomentsAndIsSeeded) {
  std::vector<float> a(100'001), b(100'001), c(100'001);
  fill_normal(a, 0.5, 9);
  fill_normal(b, 0.5, 9);
  fill_normal(c, 0.5, 10);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  double mean = 0, square = 0;
  for (const float x : a) {
    mean += x / a.size();
    square += double{x} * x / a.size();
  }
  EXPECT_NEAR(mean, 0, 0.01);
  EXPECT_NEAR(std::sqrt(square), 0.5, 0.01);
}

}  // namespace
}  // namespace id2vec

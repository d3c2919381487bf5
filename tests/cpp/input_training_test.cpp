#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "small_table.h"
#include "stage/pool.h"
#include "training/initialise.h"
#include "training/input.h"

namespace id2vec {
namespace {

constexpr uint32_t kRows = 12, kCols = 3;

// y [bags, d] of pool() in double precision, from its definition, with the greatest term for max.
std::vector<double> pooled(const std::vector<double>& table, const std::vector<uint32_t>& ids,
                           const PoolOptions& o) {
  const size_t bags = bag_count(ids, o);
  std::vector<double> out(bags * kCols);
  for (size_t b = 0; b < bags; ++b) {
    const size_t begin = o.offsets[b], end = b + 1 < bags ? o.offsets[b + 1] : ids.size();
    size_t members = 0;
    for (size_t i = begin; i < end; ++i) {
      if (static_cast<int64_t>(ids[i]) == o.padding_id) continue;
      for (uint32_t c = 0; c < kCols; ++c) {
        const double weight = o.sample_weights.empty() ? 1.0 : o.sample_weights[i];
        const double term = weight * table[ids[i] * kCols + c];
        double& y = out[b * kCols + c];
        y = o.mode == PoolMode::kMax ? (members == 0 ? term : std::max(y, term)) : y + term;
      }
      ++members;
    }
    if (o.mode == PoolMode::kMean && members > 0) {
      for (uint32_t c = 0; c < kCols; ++c) out[b * kCols + c] /= members;
    }
  }
  return out;
}

TEST(PoolGradient, AgreesWithCentralDifferencesInEveryMode) {
  std::vector<float> weights(kRows * kCols);
  fill_normal(weights, 1, 4);
  const auto table = float_table(kRows, kCols, weights);
  const std::vector<uint32_t> ids = {3, 1, 3, 7, 0, 5, 5, 2, 9};
  const std::vector<uint32_t> offsets = {0, 3, 3, 7};  // the second bag is empty
  const std::vector<float> sample_weights = {0.5f, -1, 2, 1, 0.25f, 3, 1, 1, -2};
  std::vector<float> d_pooled(offsets.size() * kCols);
  fill_normal(d_pooled, 1, 5);
  for (const PoolMode mode : {PoolMode::kSum, PoolMode::kMean, PoolMode::kMax}) {
    for (const bool weighted : {false, true}) {
      if (weighted && mode == PoolMode::kMax) continue;
      PoolOptions options{.mode = mode, .offsets = offsets, .padding_id = 0};
      if (weighted) options.sample_weights = sample_weights;
      RowGradient gradient(kRows, kCols);
      const Status status = accumulate_pool(*table, ids, options, d_pooled, false, gradient);
      ASSERT_TRUE(status.ok()) << status.message();
      std::vector<double> exact(weights.begin(), weights.end());
      const auto loss = [&] {
        const std::vector<double> y = pooled(exact, ids, options);
        double sum = 0;
        for (size_t i = 0; i < y.size(); ++i) sum += y[i] * d_pooled[i];
        return sum;
      };
      for (size_t i = 0; i < exact.size(); ++i) {
        const double kept = exact[i], step = 1e-6;
        exact[i] = kept + step;
        const double above = loss();
        exact[i] = kept - step;
        const double slope = (above - loss()) / (2 * step);
        exact[i] = kept;
        const float* row = gradient.row(static_cast<uint32_t>(i / kCols));
        EXPECT_NEAR(row == nullptr ? 0 : row[i % kCols], slope, 1e-5)
            << "mode " << int(mode) << " weight " << i;
      }
      EXPECT_EQ(gradient.row(0), nullptr) << "the padding id";
      EXPECT_EQ(gradient.row(11), nullptr) << "an id in no bag";
    }
  }
}

TEST(PoolGradient, TheFirstOfEqualTermsGetsTheGradientOfMax) {
  const auto table = float_table(2, 1, {5, 5});
  const std::vector<uint32_t> ids = {1, 0}, offsets = {0};
  const std::vector<float> d_pooled = {2};
  RowGradient gradient(2, 1);
  ASSERT_TRUE(
      accumulate_pool(*table, ids, {.mode = PoolMode::kMax, .offsets = offsets}, d_pooled, false, gradient)
          .ok());
  EXPECT_EQ(gradient.row(1)[0], 2);
  EXPECT_EQ(gradient.row(0)[0], 0);
}

TEST(EmbedGradient, GoesThroughTheScale) {
  RowGradient gradient(6, 2);
  const std::vector<uint32_t> ids = {3, 1, 3};
  const std::vector<float> d_rows = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(accumulate_embed(ids, d_rows, 2.5, false, gradient).ok());
  EXPECT_EQ(gradient.row(3)[0], 2.5f * 1 + 2.5f * 5);
  EXPECT_EQ(gradient.row(1)[1], 2.5f * 4);
}

TEST(PoolGradient, RefusesWhatItCannotDifferentiateAndWrongShapes) {
  const auto table = float_table(4, 2, std::vector<float>(8, 1));
  const std::vector<uint32_t> ids = {0, 1}, offsets = {0}, outside = {0, 4};
  const std::vector<float> two(2, 1), three(3, 1), with_nan = {1, NAN};
  RowGradient gradient(4, 2);
  const auto code = [&](std::span<const uint32_t> which, const PoolOptions& options,
                        std::span<const float> d) {
    return accumulate_pool(*table, which, options, d, false, gradient).code();
  };
  EXPECT_EQ(code(ids, {.offsets = offsets, .normalize = true}, two), Code::kUnsupported);
  EXPECT_EQ(code(ids, {.offsets = offsets}, three), Code::kInvalidArgument);
  EXPECT_EQ(code(ids, {.offsets = offsets}, with_nan), Code::kInvalidArgument);
  EXPECT_EQ(code(outside, {.offsets = offsets}, two), Code::kOutOfRange);
  EXPECT_EQ(gradient.touched(), 0u);
}

}  // namespace
}  // namespace id2vec

#include "training/gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace id2vec {
namespace {

// "A worked example, by hand": V = 6, d = 4, ids [3, 1, 3]. With ∂L/∂X[t] = t + 1 in every column.
TEST(RowGradient, SumsOverPositionsOfTheSameIdAndLeavesOthersUntouched) {
  RowGradient gradient(6, 4);
  const std::vector<uint32_t> ids = {3, 1, 3};
  const std::vector<float> values = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  ASSERT_TRUE(gradient.add({.ids = ids, .values = values}).ok());
  EXPECT_EQ(gradient.touched(), 2u);
  for (const uint32_t untouched : {0u, 2u, 4u, 5u}) EXPECT_EQ(gradient.row(untouched), nullptr);
  for (int column = 0; column < 4; ++column) {
    EXPECT_EQ(gradient.row(3)[column], 4.0f);
    EXPECT_EQ(gradient.row(1)[column], 2.0f);
  }
  Array<uint32_t> sorted;
  ASSERT_TRUE(gradient.sorted_ids(sorted).ok());
  EXPECT_EQ(std::vector<uint32_t>(sorted.begin(), sorted.end()), (std::vector<uint32_t>{1, 3}));
}

TEST(RowGradient, ScalesByFrequencyCoefficientsAndSources) {
  RowGradient gradient(10, 2);
  const std::vector<uint32_t> ids = {7, 7, 2};
  const std::vector<float> values = {1, 10, 4, 40};
  const std::vector<uint32_t> sources = {0, 1, 1};
  const std::vector<float> coefficients = {2, 0.5f, -1};
  ASSERT_TRUE(gradient
                  .add({.ids = ids,
                        .values = values,
                        .coefficients = coefficients,
                        .sources = sources,
                        .scale_by_frequency = true})
                  .ok());
  EXPECT_EQ(gradient.row(7)[0], (2.0f * 1 + 0.5f * 4) / 2);
  EXPECT_EQ(gradient.row(7)[1], (2.0f * 10 + 0.5f * 40) / 2);
  EXPECT_EQ(gradient.row(2)[1], -40.0f);
}

TEST(RowGradient, PaddingRowGetsNothing) {
  RowGradient gradient(4, 1, 2);
  const std::vector<uint32_t> ids = {2, 1};
  const std::vector<float> values = {5, 6};
  ASSERT_TRUE(gradient.add({.ids = ids, .values = values}).ok());
  EXPECT_EQ(gradient.row(2), nullptr);
  EXPECT_EQ(gradient.row(1)[0], 6.0f);
}

TEST(RowGradient, RefusesWrongInputAndStaysAsItWas) {
  RowGradient gradient(6, 2);
  const std::vector<uint32_t> good_ids = {5};
  const std::vector<float> good = {1, 2};
  ASSERT_TRUE(gradient.add({.ids = good_ids, .values = good}).ok());
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<uint32_t> ids = {1, 6};
  const std::vector<uint32_t> two = {1, 2};
  const std::vector<float> four = {1, 2, 3, 4}, with_nan = {1, NAN, 3, 4},
                           with_infinity = {1, 2, -infinity, 4};
  const std::vector<float> one_coefficient = {1};
  const std::vector<uint32_t> bad_sources = {0, 2};
  EXPECT_EQ(gradient.add({.ids = ids, .values = four}).code(), Code::kOutOfRange);
  EXPECT_EQ(gradient.add({.ids = two, .values = good}).code(), Code::kInvalidArgument);
  EXPECT_EQ(gradient.add({.ids = two, .values = with_nan}).code(), Code::kInvalidArgument);
  EXPECT_EQ(gradient.add({.ids = two, .values = with_infinity}).code(), Code::kInvalidArgument);
  EXPECT_EQ(gradient.add({.ids = two, .values = four, .coefficients = one_coefficient}).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(gradient.add({.ids = two, .values = four, .sources = bad_sources}).code(), Code::kOutOfRange);
  EXPECT_NE(gradient.add({.ids = ids, .values = four}).message().find("id 6 at position 1"),
            std::string::npos);
  EXPECT_EQ(gradient.touched(), 1u);
  EXPECT_EQ(gradient.row(5)[1], 2.0f);
}

// The bound that gradient.h states, over 200 shuffles of 64 summands of one row.
TEST(RowGradient, OrderMattersLessThanTheStatedBound) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(64);
  double magnitude = 0;
  for (float& value : values) magnitude += std::abs(value = normal(random));
  const std::vector<uint32_t> ids(values.size(), 0);
  const double bound = 2 * (values.size() - 1) * std::ldexp(1.0, -24) * magnitude;
  double lowest = INFINITY, highest = -INFINITY;
  for (int round = 0; round < 200; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    RowGradient gradient(1, 1);
    ASSERT_TRUE(gradient.add({.ids = ids, .values = values}).ok());
    lowest = std::min<double>(lowest, gradient.row(0)[0]);
    highest = std::max<double>(highest, gradient.row(0)[0]);
  }
  EXPECT_LE(highest - lowest, bound);
}

TEST(RowGradient, DenseKeepsWhatWasThere) {
  RowGradient gradient(100, 3);
  const std::vector<uint32_t> ids = {42, 17};
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(gradient.add({.ids = ids, .values = values}).ok());
  ASSERT_TRUE(gradient.make_dense().ok());
  EXPECT_EQ(gradient.touched(), 100u);
  EXPECT_EQ(gradient.row(42)[2], 3.0f);
  EXPECT_EQ(gradient.row(17)[0], 4.0f);
  EXPECT_EQ(gradient.row(0)[0], 0.0f);
  gradient.clear();
  EXPECT_EQ(gradient.touched(), 0u);
  EXPECT_FALSE(gradient.dense());
}

TEST(RowMap, FindsEveryIdAfterGrowthAndTruncation) {
  RowMap map;
  std::mt19937 random(3);
  std::vector<uint32_t> ids;
  while (ids.size() < 5000) {
    const uint32_t id = random();
    if (map.find(id) == RowMap::kNone) ids.push_back(id);
    ASSERT_NE(map.insert(id), RowMap::kNone);
  }
  map.truncate(1234);
  for (size_t slot = 0; slot < ids.size(); ++slot) {
    EXPECT_EQ(map.find(ids[slot]), slot < 1234 ? static_cast<uint32_t>(slot) : RowMap::kNone);
  }
}

TEST(RowGradient, ClipsByValueThenByNorm) {
  RowGradient gradient(2, 2);
  const std::vector<uint32_t> ids = {0};
  const std::vector<float> values = {30, 4};
  ASSERT_TRUE(gradient.add({.ids = ids, .values = values}).ok());
  gradient.clip(3, 1);  // (3, 3) after the first step; norm √18
  EXPECT_NEAR(gradient.row(0)[0], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(gradient.row(0)[1], std::sqrt(0.5), 1e-6);
}

}  // namespace
}  // namespace id2vec

// What a table promises whatever its format: ids are checked before anything is written, candidates and ties are
// as documented, top-k is logits sorted.
#include "table/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "random_table.h"

namespace id2vec {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kSentinel = 12345.0f;

std::unique_ptr<Table> f32_table(uint64_t rows, uint32_t cols, std::span<const float> values) {
  auto table = std::move(Table::allocate({dtype_by_name("F32"), rows, cols}, *kernel_table("auto")).value());
  std::memcpy(table->plane(0).data(), values.data(), values.size_bytes());
  return table;
}

// The worked example: 6 rows of width 4.
std::unique_ptr<Table> example() {
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0f);
  return f32_table(6, 4, values);
}

TEST(Table, LooksUpRows) {
  auto table = example();
  const uint32_t ids[] = {3, 1, 3};
  float out[12];
  ASSERT_TRUE(table->lookup(ids, out).ok());
  const float expected[] = {12, 13, 14, 15, 4, 5, 6, 7, 12, 13, 14, 15};
  EXPECT_TRUE(std::equal(out, out + 12, expected));
}

TEST(Table, LooksUpNothing) {
  auto table = example();
  EXPECT_TRUE(table->lookup({}, {}).ok());
}

TEST(Table, RefusesAnIdBeforeWriting) {
  auto table = example();
  const uint32_t ids[] = {0, 6};
  std::vector<float> out(8, kSentinel);
  const Status status = table->lookup(ids, out);
  EXPECT_EQ(status.code(), Code::kOutOfRange);
  for (const char* part : {"6", "position 1"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
  EXPECT_EQ(std::count(out.begin(), out.end(), kSentinel), 8);
}

TEST(Table, RefusesAnOutputThatIsTooSmall) {
  auto table = example();
  const uint32_t ids[] = {0, 1};
  float out[7];
  EXPECT_EQ(table->lookup(ids, out).code(), Code::kInvalidArgument);
  EXPECT_EQ(table->logits(std::vector<float>(4), Precision::kHigh, {}, std::span(out, 5)).code(),
            Code::kInvalidArgument);
}

TEST(Table, RefusesHiddenVectorsOfAnotherWidth) {
  auto table = example();
  float out[6];
  EXPECT_EQ(table->logits(std::vector<float>(5), Precision::kHigh, {}, out).code(), Code::kInvalidArgument);
}

TEST(Table, RefusesSpecsThatCannotBe) {
  const KernelTable& kernels = *kernel_table("scalar");
  const Dtype* q8 = dtype_by_name("Q8_0");
  EXPECT_EQ(Table::allocate({q8, 4, 33}, kernels).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Table::allocate({q8, 4, 0}, kernels).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Table::allocate({q8, UINT64_MAX, 32}, kernels).status().code(), Code::kLimit);
  EXPECT_EQ(Table::allocate({dtype_by_name("I64"), 4, 32}, kernels).status().code(), Code::kUnsupported);
}

TEST(Table, OneHotTimesTableIsLookup) {
  auto table = example();
  // logits of a one-hot hidden vector are a column of E.
  const float hidden[] = {0, 0, 1, 0};
  float out[6];
  ASSERT_TRUE(table->logits(hidden, Precision::kHigh, {}, out).ok());
  for (int row = 0; row < 6; ++row) EXPECT_EQ(out[row], 4.0f * row + 2);
}

TEST(Table, LogitsOfSomeIdsInTheirOrder) {
  auto table = example();
  const float hidden[] = {1, 0, 0, 0, 0, 1, 0, 0};
  const uint32_t only[] = {5, 0, 5};
  float out[6];
  ASSERT_TRUE(table->logits(hidden, Precision::kHigh, {only, 5}, out).ok());
  const float expected[] = {-kInfinity, 0, -kInfinity, -kInfinity, 1, -kInfinity};
  EXPECT_TRUE(std::equal(out, out + 6, expected));
  const uint32_t wrong[] = {6};
  EXPECT_EQ(table->logits(hidden, Precision::kHigh, {wrong}, out).code(), Code::kOutOfRange);
}

TEST(Table, TiesGoToTheLowerId) {
  auto table = f32_table(7, 1, std::vector<float>{1, 2, 2, NAN, 2, 0, -kInfinity});
  const float hidden[] = {1};
  float values[9];
  int32_t indices[9];
  ASSERT_TRUE(table->top_k(hidden, 2, Precision::kHigh, {}, {values, indices}).ok());
  EXPECT_EQ(indices[0], 1);
  EXPECT_EQ(indices[1], 2);
  // Fewer candidates than k: NaN and −∞ never win, the rest is −∞ and −1.
  ASSERT_TRUE(table->top_k(hidden, 9, Precision::kHigh, {}, {values, indices}).ok());
  const int32_t expected[] = {1, 2, 4, 0, 5, -1, -1, -1, -1};
  EXPECT_TRUE(std::equal(indices, indices + 9, expected));
  EXPECT_EQ(values[5], -kInfinity);
  // The order of the candidates does not matter.
  const uint32_t only[] = {4, 2, 1, 3};
  ASSERT_TRUE(table->top_k(hidden, 2, Precision::kHigh, {only}, {values, indices}).ok());
  EXPECT_EQ(indices[0], 1);
  EXPECT_EQ(indices[1], 2);
}

TEST(Table, TopKIsLogitsSorted) {
  constexpr uint32_t kRows = 1031, kCols = 64, kVectors = 3;
  const KernelTable& kernels = *kernel_table("auto");
  auto table = random_table<Q8_0>(kernels, kRows, kCols);
  const std::vector<float> hidden = random_floats(kVectors * kCols, 2);
  std::vector<float> logits(kVectors * kRows);
  ASSERT_TRUE(table->logits(hidden, Precision::kHigh, {}, logits).ok());
  for (size_t k : {size_t(0), size_t(1), size_t(10), size_t(kRows)}) {
    std::vector<float> values(kVectors * k + 1, kSentinel);
    std::vector<int32_t> indices(kVectors * k + 1, -7);
    ASSERT_TRUE(table->top_k(hidden, k, Precision::kHigh, {}, {values.data(), indices.data()}).ok());
    for (size_t n = 0; n < kVectors; ++n) {
      std::vector<int32_t> order(kRows);
      std::iota(order.begin(), order.end(), 0);
      const float* row = logits.data() + n * kRows;
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
      for (size_t i = 0; i < k; ++i) {
        ASSERT_EQ(indices[n * k + i], order[i]) << "vector " << n << ", place " << i << " of " << k;
        ASSERT_EQ(values[n * k + i], row[order[i]]);
      }
    }
    EXPECT_EQ(values.back(), kSentinel);
    EXPECT_EQ(indices.back(), -7);
  }
}

TEST(Table, LogSumExpOverAllCandidates) {
  constexpr uint32_t kRows = 700, kCols = 32;
  auto table = random_table<F32>(*kernel_table("auto"), kRows, kCols);
  const std::vector<float> weights = random_floats(kRows * kCols, 3);
  std::memcpy(table->plane(0).data(), weights.data(), weights.size() * sizeof(float));
  const std::vector<float> hidden = random_floats(2 * kCols, 4);
  std::vector<float> logits(2 * kRows);
  ASSERT_TRUE(table->logits(hidden, Precision::kHigh, {{}, 600}, logits).ok());
  float values[2], sums[2];
  int32_t indices[2];
  ASSERT_TRUE(table->top_k(hidden, 1, Precision::kHigh, {{}, 600}, {values, indices, sums}).ok());
  for (size_t n = 0; n < 2; ++n) {
    double sum = 0;
    for (size_t i = 0; i < 600; ++i) sum += std::exp(double(logits[n * kRows + i]));
    EXPECT_NEAR(sums[n], std::log(sum), 1e-5);
  }
}

TEST(Table, FinishSeesEveryScoreOnce) {
  auto table = example();
  const float hidden[] = {1, 0, 0, 0};
  float values[2];
  int32_t indices[2];
  // Turns the ranking round and masks row 0.
  const Finish finish{[](const void*, const ScoreBlock& block) {
    for (size_t i = 0; i < block.rows.count; ++i) {
      block.scores[i] = block.rows[i] == 0 ? -kInfinity : -block.scores[i];
    }
  }};
  ASSERT_TRUE(table->top_k(hidden, 2, Precision::kHigh, {}, {values, indices}, finish).ok());
  EXPECT_EQ(indices[0], 1);
  EXPECT_EQ(values[0], -4);
  EXPECT_EQ(indices[1], 2);
}

}  // namespace
}  // namespace id2vec

// Pooling against the definition of an embedding bag, written out.
#include "stage/pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_table.h"
#include "small_table.h"

namespace id2vec {
namespace {

using Floats = std::vector<float>;
using Ids = std::vector<uint32_t>;

constexpr float kSentinel = 12345;

Floats pooled(const Table& table, const Ids& ids, const PoolOptions& options) {
  const size_t values = bag_count(ids, options) * pool_width(table, options);
  Floats out(values + 2, kSentinel);
  const Status status = pool(table, ids, options, std::span(out).first(values));
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out[values], kSentinel);
  out.resize(values);
  return out;
}

Status refused(const Table& table, const Ids& ids, const PoolOptions& options, size_t values) {
  Floats out(values, kSentinel);
  const Status status = pool(table, ids, options, out);
  for (float value : out) EXPECT_EQ(value, kSentinel);
  return status;
}

std::unique_ptr<Table> four_rows() { return float_table(4, 2, {1, 8, 2, -6, 3, 4, -4, 2}); }

TEST(Pool, SumMeanAndMaxOfBags) {
  const auto table = four_rows();
  const Ids ids = {0, 1, 2, 3}, offsets = {0, 3};
  EXPECT_EQ(pooled(*table, ids, {.mode = PoolMode::kSum, .offsets = offsets}), (Floats{6, 6, -4, 2}));
  EXPECT_EQ(pooled(*table, ids, {.mode = PoolMode::kMean, .offsets = offsets}), (Floats{2, 2, -4, 2}));
  EXPECT_EQ(pooled(*table, ids, {.mode = PoolMode::kMax, .offsets = offsets}), (Floats{3, 8, -4, 2}));
}

TEST(Pool, EmptyBagsAreZeros) {
  const auto table = four_rows();
  const Ids ids = {3}, offsets = {0, 0, 1};
  for (PoolMode mode : {PoolMode::kSum, PoolMode::kMean, PoolMode::kMax}) {
    EXPECT_EQ(pooled(*table, ids, {.mode = mode, .offsets = offsets}), (Floats{0, 0, -4, 2, 0, 0}));
    EXPECT_EQ(pooled(*table, ids, {.mode = mode, .offsets = offsets, .normalize = true})[4], 0);
  }
  EXPECT_EQ(pooled(*table, {}, {.bag_length = 0}), Floats{});
}

TEST(Pool, PaddingUnknownAndMaskedIdsAreNoMembers) {
  const auto table = four_rows();
  const Ids ids = {0, 3, 1, 3, 3, 3};
  EXPECT_EQ(pooled(*table, ids, {.bag_length = 3, .padding_id = 3}), (Floats{1.5f, 1, 0, 0}));
  EXPECT_EQ(pooled(*table, ids, {.mode = PoolMode::kMax, .bag_length = 3, .padding_id = 3}),
            (Floats{2, 8, 0, 0}));
  EXPECT_EQ(pooled(*table, ids, {.bag_length = 3, .unknown_id = 0}), (Floats{-1, -2, -4, 2}));
  const std::vector<uint8_t> mask = {1, 0, 1, 0, 0, 1};
  EXPECT_EQ(pooled(*table, ids, {.bag_length = 3, .attention_mask = mask}), (Floats{1.5f, 1, -4, 2}));
}

// Weighted: Σ w·x, and for the mean divided by the count of members.
TEST(Pool, SampleWeights) {
  const auto table = four_rows();
  const Ids ids = {0, 1};
  const Floats weights = {0.5f, 2};
  EXPECT_EQ(pooled(*table, ids, {.mode = PoolMode::kSum, .bag_length = 2, .sample_weights = weights}),
            (Floats{4.5f, -8}));
  EXPECT_EQ(pooled(*table, ids, {.bag_length = 2, .sample_weights = weights}), (Floats{2.25f, -4}));
  EXPECT_EQ(
      refused(*table, ids, {.mode = PoolMode::kMax, .bag_length = 2, .sample_weights = weights}, 2).code(),
      Code::kInvalidArgument);
}

// A table of just the rows that the ids need, in another order, gives what the whole one gives.
TEST(Pool, GatheredRows) {
  const auto whole = four_rows();
  const auto few = float_table(2, 2, {-4, 2, 2, -6});
  const Ids ids = {1, 3, 1}, places = {1, 0, 1};
  const PoolOptions plain{.bag_length = 3, .unknown_id = 9},
      gathered{.bag_length = 3, .places = places, .whole_rows = 4};
  EXPECT_EQ(pooled(*few, ids, gathered), pooled(*whole, ids, plain));
  const Ids mapping = {3, 2, 1, 0, 1}, mapped = {2, 0, 4};
  const Floats by_row = {1, 2, 3, 4};
  EXPECT_EQ(
      pooled(*few, mapped,
             {.bag_length = 3, .mapping = mapping, .weights = by_row, .places = places, .whole_rows = 4}),
      pooled(*whole, mapped, {.bag_length = 3, .mapping = mapping, .weights = by_row}));
  const Ids beyond = {1, 0, 2}, too_few = {1};
  EXPECT_EQ(refused(*few, ids, {.bag_length = 3, .places = beyond, .whole_rows = 4}, 2).code(),
            Code::kOutOfRange);
  EXPECT_EQ(refused(*few, ids, {.bag_length = 3, .places = too_few, .whole_rows = 4}, 2).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(refused(*few, {4, 1, 1}, {.bag_length = 3, .places = places, .whole_rows = 4}, 2).code(),
            Code::kOutOfRange);
}

TEST(Pool, UnitLengthAfterTruncation) {
  const auto table = float_table(1, 3, {3, 4, 12});
  const Ids ids = {0};
  EXPECT_EQ(pooled(*table, ids, {.bag_length = 1, .dimensions = 2, .normalize = true}), (Floats{0.6f, 0.8f}));
  EXPECT_EQ(pooled(*table, ids, {.bag_length = 1, .normalize = true}),
            (Floats{3 / 13.0f, 4 / 13.0f, 12 / 13.0f}));
  EXPECT_EQ(refused(*table, ids, {.bag_length = 1, .dimensions = 4}, 4).code(), Code::kInvalidArgument);
}

// model2vec with a reduced table: row = mapping[id], weight by the original id; a file may hold weights by row too.
TEST(Pool, MappingAndWeightsInBothOrders) {
  const auto table = float_table(2, 2, {1, 10, 2, 20});
  const Ids mapping = {1, 0, 1}, ids = {0, 1, 2};
  const Floats by_id = {1, 0.5f, 2}, by_row = {3, 5};
  // by id: 1·E[1] + 0.5·E[0] + 2·E[1] = (2 + 0.5 + 4, …)
  EXPECT_EQ(
      pooled(*table, ids, {.mode = PoolMode::kSum, .bag_length = 3, .mapping = mapping, .weights = by_id}),
      (Floats{6.5f, 65}));
  // by row: 5·E[1] + 3·E[0] + 5·E[1]
  EXPECT_EQ(
      pooled(*table, ids, {.mode = PoolMode::kSum, .bag_length = 3, .mapping = mapping, .weights = by_row}),
      (Floats{23, 230}));
  const Ids broken = {2, 0, 1};
  EXPECT_EQ(refused(*table, ids, {.bag_length = 3, .mapping = broken}, 2).code(), Code::kMalformed);
  EXPECT_EQ(refused(*table, {3}, {.bag_length = 1, .mapping = mapping}, 2).code(), Code::kOutOfRange);
  const Floats short_weights = {1};
  EXPECT_EQ(refused(*table, {1}, {.bag_length = 1, .weights = short_weights}, 2).code(), Code::kOutOfRange);
}

// a / (a + p): Arora et al. 2017, equation 1; by rank as model2vec estimates p.
TEST(Pool, SmoothInverseFrequency) {
  const std::vector<double> counts = {6, 3, 1, 0};
  Floats weights(4);
  ASSERT_TRUE(sif_weights(counts, 0.1, weights).ok());
  EXPECT_FLOAT_EQ(weights[0], 0.1 / 0.7);
  EXPECT_FLOAT_EQ(weights[2], 0.5);
  EXPECT_FLOAT_EQ(weights[3], 1);
  ASSERT_TRUE(sif_weights_by_rank(0.1, weights).ok());
  const double total = 1 / 2.0 + 1 / 3.0 + 1 / 4.0 + 1 / 5.0;
  EXPECT_FLOAT_EQ(weights[1], 0.1 / (0.1 + 1 / 3.0 / total));
  EXPECT_FALSE(sif_weights(counts, 0, weights).ok());
  EXPECT_FALSE(sif_weights(std::vector<double>{0, 0, 0, 0}, 1, weights).ok());
  EXPECT_FALSE(sif_weights(std::vector<double>{1, -1, 0, 0}, 1, weights).ok());
}

// Long and short bags over many tiles, from a quantized table.
TEST(Pool, ManyBagsEqualTheDefinition) {
  constexpr uint32_t kWidth = 64;
  const auto table = random_table<Q8_0>(*kernel_table("auto"), 50, kWidth);
  Ids ids, offsets;
  for (size_t bag = 0; bag < 40; ++bag) {
    offsets.push_back(static_cast<uint32_t>(ids.size()));
    for (size_t i = 0; i < bag * 7 % 45; ++i) ids.push_back(static_cast<uint32_t>((bag * 31 + i * 17) % 50));
  }
  const Floats out = pooled(*table, ids, {.mode = PoolMode::kSum, .offsets = offsets});
  for (size_t bag = 0; bag < offsets.size(); ++bag) {
    const size_t end = bag + 1 < offsets.size() ? offsets[bag + 1] : ids.size();
    for (uint32_t c = 0; c < kWidth; ++c) {
      float sum = 0;
      for (size_t i = offsets[bag]; i < end; ++i) sum += weight<Q8_0>(*table, ids[i], c);
      EXPECT_EQ(out[bag * kWidth + c], sum) << bag << " " << c;
    }
  }
}

TEST(Pool, RefusesBeforeItWrites) {
  const auto table = four_rows();
  const Ids ids = {0, 1, 4}, descending = {0, 2, 1}, late = {1}, far = {0, 4};
  EXPECT_EQ(refused(*table, ids, {.bag_length = 3}, 2).code(), Code::kOutOfRange);
  EXPECT_EQ(refused(*table, {0, 1, 2}, {.bag_length = 2}, 2).code(), Code::kInvalidArgument);
  EXPECT_EQ(refused(*table, {0, 1, 2}, {.offsets = descending}, 6).code(), Code::kOutOfRange);
  EXPECT_EQ(refused(*table, {0, 1, 2}, {.offsets = late}, 2).code(), Code::kOutOfRange);
  EXPECT_EQ(refused(*table, {0, 1, 2}, {.offsets = far}, 4).code(), Code::kOutOfRange);
  const Floats weights = {1};
  EXPECT_EQ(refused(*table, {0, 1}, {.bag_length = 2, .sample_weights = weights}, 2).code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace id2vec

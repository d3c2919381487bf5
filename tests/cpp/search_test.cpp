// Neighbours, analogies and projections against plain double computations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "random_table.h"
#include "search/nearest.h"
#include "search/similarity.h"
#include "small_table.h"

namespace id2vec {
namespace {

using Floats = std::vector<float>;
using Ids = std::vector<uint32_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Found {
  Floats values;
  std::vector<int32_t> indices;
};

Floats norms_of(const Table& table) {
  Floats norms(table.spec().rows);
  EXPECT_TRUE(row_norms(table, norms).ok());
  return norms;
}

Found nearest_to(const Table& table, const Floats& query, size_t k, const NearestOptions& options = {}) {
  Found found{Floats(k), std::vector<int32_t>(k)};
  const Status status = nearest(table, norms_of(table), query, k, options,
                                {found.values.data(), found.indices.data(), nullptr});
  EXPECT_TRUE(status.ok()) << status.message();
  return found;
}

std::unique_ptr<Table> four_rows() { return float_table(4, 2, {1, 0, 0, 2, 3, 3, 0, 0}); }

TEST(Nearest, NormsAreOfTheRows) { EXPECT_EQ(norms_of(*four_rows()), (Floats{1, 2, std::sqrt(18.0f), 0})); }

TEST(Nearest, ThreeMetrics) {
  const auto table = four_rows();
  const Floats query = {0, 4};
  const Found cosine = nearest_to(*table, query, 4);
  EXPECT_EQ(cosine.indices, (std::vector<int32_t>{1, 2, 0, 3}));
  EXPECT_EQ(cosine.values[0], 1);
  EXPECT_FLOAT_EQ(cosine.values[1], 1 / std::sqrt(2.0f));
  EXPECT_EQ(cosine.values[3], 0);  // a row of zeros points nowhere
  const Found dot = nearest_to(*table, query, 2, {.metric = Metric::kDot});
  EXPECT_EQ(dot.indices, (std::vector<int32_t>{2, 1}));
  EXPECT_EQ(dot.values, (Floats{12, 8}));
  const Found euclidean = nearest_to(*table, query, 3, {.metric = Metric::kEuclidean});
  EXPECT_EQ(euclidean.indices, (std::vector<int32_t>{1, 2, 3}));
  EXPECT_FLOAT_EQ(euclidean.values[0], 2);
  EXPECT_FLOAT_EQ(euclidean.values[1], std::sqrt(10.0f));
}

TEST(Nearest, ExcludedIdsAndIdsBeyondTheTokenizerAreNoNeighbours) {
  const auto table = four_rows();
  const Ids exclude = {1};
  EXPECT_EQ(nearest_to(*table, {0, 4}, 1, {.exclude = exclude}).indices, (std::vector<int32_t>{2}));
  const Found few = nearest_to(*table, {0, 4}, 3, {.exclude = exclude, .limit = 3});
  EXPECT_EQ(few.indices, (std::vector<int32_t>{2, 0, -1}));
  EXPECT_EQ(few.values[2], -kInfinity);
  EXPECT_EQ(nearest_to(*table, {0, 4}, 4, {.metric = Metric::kEuclidean, .limit = 3}).values[3], kInfinity);
}

TEST(Nearest, EqualsADoubleComputationOnAQuantizedTable) {
  constexpr uint32_t kRows = 700, kWidth = 96;
  const auto table = random_table<Q8_0>(*kernel_table("auto"), kRows, kWidth);
  const Floats query = random_floats(kWidth, 9);
  for (Metric metric : {Metric::kCosine, Metric::kDot, Metric::kEuclidean}) {
    std::vector<double> score(kRows);
    for (uint32_t r = 0; r < kRows; ++r) {
      double product = 0, row = 0, own = 0;
      for (uint32_t c = 0; c < kWidth; ++c) {
        const double w = weight<Q8_0>(*table, r, c);
        product += w * query[c];
        row += w * w;
        own += double(query[c]) * query[c];
      }
      score[r] = metric == Metric::kDot      ? product
                 : metric == Metric::kCosine ? product / std::sqrt(row * own)
                                             : std::sqrt(row + own - 2 * product);
    }
    std::vector<int32_t> order(kRows);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return metric == Metric::kEuclidean ? score[a] < score[b] : score[a] > score[b];
    });
    const Found found = nearest_to(*table, query, 10, {.metric = metric});
    for (size_t i = 0; i < 10; ++i)
      EXPECT_NEAR(found.values[i] / score[order[i]], 1, 2e-4) << int(metric) << " " << i;
  }
}

TEST(Nearest, Refuses) {
  const auto table = four_rows();
  const Floats norms = norms_of(*table), short_norms = {1};
  float value;
  int32_t index;
  const TopK best{&value, &index, nullptr};
  const Ids outside = {4};
  EXPECT_EQ(nearest(*table, norms, Floats{1}, 1, {}, best).code(), Code::kInvalidArgument);
  EXPECT_EQ(nearest(*table, short_norms, Floats{1, 1}, 1, {}, best).code(), Code::kInvalidArgument);
  EXPECT_EQ(nearest(*table, norms, Floats{1, 1}, 0, {}, best).code(), Code::kInvalidArgument);
  EXPECT_EQ(nearest(*table, norms, Floats{1, 1}, 1, {.exclude = outside}, best).code(), Code::kOutOfRange);
}

TEST(Analogy, AddsAndSubtractsUnitRows) {
  const auto table = four_rows();
  Floats target(2);
  const Ids positive = {2, 1}, negative = {0};
  ASSERT_TRUE(analogy_target(*table, positive, negative, target).ok());
  // (1, 1)/√2 + (0, 1) − (1, 0), then unit length
  const double x = std::sqrt(0.5) - 1, y = std::sqrt(0.5) + 1, length = std::hypot(x, y);
  EXPECT_FLOAT_EQ(target[0], x / length);
  EXPECT_FLOAT_EQ(target[1], y / length);
  EXPECT_EQ(analogy_target(*table, {}, negative, target).code(), Code::kInvalidArgument);
  EXPECT_EQ(analogy_target(*table, Ids{9}, negative, target).code(), Code::kOutOfRange);
}

TEST(Similarity, MatrixOfEveryMetric) {
  const Floats vectors = {3, 4, 4, 3, 0, 0};
  Floats out(9);
  ASSERT_TRUE(similarity_matrix(vectors, 2, Metric::kCosine, out).ok());
  EXPECT_EQ(out, (Floats{1, 0.96f, 0, 0.96f, 1, 0, 0, 0, 0}));
  ASSERT_TRUE(similarity_matrix(vectors, 2, Metric::kEuclidean, out).ok());
  EXPECT_EQ(out, (Floats{0, std::sqrt(2.0f), 5, std::sqrt(2.0f), 0, 5, 5, 5, 0}));
  ASSERT_TRUE(similarity_matrix(vectors, 2, Metric::kDot, out).ok());
  EXPECT_EQ(out[1], 24);
  EXPECT_FALSE(similarity_matrix(vectors, 4, Metric::kDot, out).ok());
}

// Points on a tilted ellipse with known axes in 3-D come back as that ellipse.
TEST(PrincipalPlane, FindsTheAxesOfAnEllipse) {
  constexpr size_t kCount = 60;
  const double major[3] = {2 / 3.0, 2 / 3.0, 1 / 3.0}, minor[3] = {-2 / 3.0, 1 / 3.0, 2 / 3.0};
  Floats vectors;
  for (size_t n = 0; n < kCount; ++n) {
    const double angle = 2 * 3.14159265358979 * n / kCount;
    for (size_t c = 0; c < 3; ++c) {
      vectors.push_back(
          static_cast<float>(10 + 5 * std::cos(angle) * major[c] + 2 * std::sin(angle) * minor[c]));
    }
  }
  Floats out(kCount * 2), explained(2);
  ASSERT_TRUE(principal_plane(vectors, 3, out, explained).ok());
  for (size_t n = 0; n < kCount; ++n) {
    const double angle = 2 * 3.14159265358979 * n / kCount;
    EXPECT_NEAR(std::fabs(out[n * 2]), std::fabs(5 * std::cos(angle)), 1e-4);
    EXPECT_NEAR(std::fabs(out[n * 2 + 1]), std::fabs(2 * std::sin(angle)), 1e-4);
  }
  EXPECT_NEAR(explained[0], 25.0 / 29, 1e-5);
  EXPECT_NEAR(explained[1], 4.0 / 29, 1e-5);
  EXPECT_FALSE(principal_plane(Floats{1, 2, 3}, 3, out, explained).ok());
}

TEST(PrincipalPlane, EqualVectorsLieInThePoint) {
  Floats out(6, 9), explained(2, 9);
  ASSERT_TRUE(principal_plane(Floats{1, 2, 1, 2, 1, 2}, 2, out, explained).ok());
  EXPECT_EQ(out, Floats(6, 0));
  EXPECT_EQ(explained, Floats(2, 0));
}

}  // namespace
}  // namespace id2vec

// Every format in every instruction set: rows against value() bit for bit, dot products against double precision
// within a stated bound.
#include "kernels/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <utility>

#include "random_table.h"

namespace id2vec {
namespace {

constexpr float kSentinel = 12345.0f;

// Calls test.operator()<F>(kernels) for every instruction set and format.
template <class Test>
void for_each_kernel(Test&& test) {
  for (const KernelTable* kernels : kernel_tables()) {
    Formats::for_each([&]<class F>() {
      SCOPED_TRACE(testing::Message() << kernels->isa << " " << F::kName);
      test.template operator()<F>(*kernels);
    });
  }
}

// Widths around those of a vector, a block and a piece.
template <class F>
std::vector<uint32_t> widths() {
  if (F::kBlockSize == 1) return {1, 3, 4, 5, 31, 64, 255, 257, 520};
  return {F::kBlockSize, 3 * F::kBlockSize, 768 / F::kBlockSize * F::kBlockSize + F::kBlockSize};
}

TEST(Kernels, TheScalarTableIsAlwaysThere) {
  EXPECT_EQ((*kernel_tables().begin())->isa, "scalar");
  EXPECT_EQ(kernel_table("auto"), *(kernel_tables().end() - 1));
  EXPECT_EQ(kernel_table("mmx"), nullptr);
}

TEST(Kernels, LookupIsBitExact) {
  for_each_kernel([]<class F>(const KernelTable& kernels) {
    for (uint32_t cols : widths<F>()) {
      constexpr uint64_t kRows = 5;
      auto table = random_table<F>(kernels, kRows, cols, cols);
      const uint32_t ids[] = {4, 0, 4, 2};
      std::vector<float> out(4 * cols + 1, kSentinel);
      ASSERT_TRUE(table->lookup(ids, std::span(out).first(4 * cols)).ok());
      for (size_t i = 0; i < 4 * cols; ++i) {
        const float expected = weight<F>(*table, ids[i / cols], uint32_t(i % cols));
        ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(expected))
            << "row " << ids[i / cols] << ", column " << i % cols << " of " << cols << ": " << out[i]
            << ", not " << expected;
      }
      ASSERT_EQ(out.back(), kSentinel);
    }
  });
}

// 257 and 1 share a remainder by 256, and 0 is what nothing remembered looks like.
TEST(Kernels, RepeatedIdsGiveTheSameRows) {
  for_each_kernel([]<class F>(const KernelTable& kernels) {
    constexpr uint32_t kCols = F::kBlockSize;
    auto table = random_table<F>(kernels, 258, kCols);
    const uint32_t ids[] = {1, 257, 1, 1, 0, 256, 0, 257, 5, 1};
    std::vector<float> out(std::size(ids) * kCols);
    ASSERT_TRUE(table->lookup(ids, out).ok());
    for (size_t i = 0; i < out.size(); ++i) {
      const float expected = weight<F>(*table, ids[i / kCols], uint32_t(i % kCols));
      ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(expected)) << "number " << i;
    }
  });
}

// What the dot product of a row should be, and how far from it a kernel may stay.
struct Reference {
  double value = 0, tolerance = 0;
};

// |error| ≤ Σ over groups max |h| / (2 · levels) · Σ |w|            activations in integers (0 levels: in floats)
//         + ε · (d / 4 + 16) · Σ |w|' |h|                           sums in floats, four lanes
// with |w|' = |scale| · (range of quants) + |offset| where a format is affine: its parts are summed apart.
template <class F>
Reference reference(const Table& table, uint64_t row, const float* hidden, int levels) {
  constexpr double kEpsilon = 0x1p-24;
  const uint32_t cols = table.spec().cols;
  Reference result;
  double magnitude = 0;
  constexpr uint32_t kStep = [] {
    if constexpr (GroupFormat<F>) return uint32_t(F::kGroupSize);
    return 1u;
  }();
  for (uint32_t first = 0; first < cols; first += kStep) {
    double greatest = 0, weights = 0;
    for (uint32_t i = first; i < first + kStep; ++i) {
      const double w = weight<F>(table, row, i);
      double part = std::fabs(w);
      if constexpr (GroupFormat<F>) {
        const auto* blocks = reinterpret_cast<const typename F::Block*>(
            table.view().planes[0].data + row * table.view().planes[0].row_bytes);
        const Affine affine = F::affine(blocks[i / F::kBlockSize], i % F::kBlockSize / F::kGroupSize);
        part = std::fabs(double(affine.scale)) * (F::kQuantMax - F::kQuantMin + 1) +
               std::fabs(double(affine.offset));
      }
      result.value += w * hidden[i];
      magnitude += part * std::fabs(hidden[i]);
      weights += std::fabs(w);
      greatest = std::max(greatest, double(std::fabs(hidden[i])));
    }
    if (levels > 0) result.tolerance += greatest / (2 * levels) * weights;
  }
  // subnormal floats are coarse
  result.tolerance += kEpsilon * (cols / 4 + 16) * magnitude + cols * 0x1p-126;
  return result;
}

template <class F>
void expect_dots(const Table& table, const std::vector<float>& hidden, Precision precision) {
  const uint32_t cols = table.spec().cols;
  const size_t rows = table.spec().rows, vectors = hidden.size() / cols;
  std::vector<float> out(rows * vectors + 1, kSentinel);
  ASSERT_TRUE(table.logits(hidden, precision, {}, std::span(out).first(rows * vectors)).ok());
  const int levels = precision == Precision::kFast ? 127 : 32639;
  for (size_t n = 0; n < vectors; ++n) {
    for (size_t row = 0; row < rows; ++row) {
      const Reference expected = reference<F>(table, row, hidden.data() + n * cols, levels);
      ASSERT_NEAR(out[n * rows + row], expected.value, expected.tolerance)
          << "row " << row << " of " << rows << ", vector " << n << " of " << vectors << ", width " << cols;
    }
  }
  ASSERT_EQ(out.back(), kSentinel);
}

TEST(Kernels, DotsAreWithinTheBound) {
  for_each_kernel([]<class F>(const KernelTable& kernels) {
    for (uint32_t cols : widths<F>()) {
      for (uint64_t rows : {1, 3, 4, 7}) {
        auto table = random_table<F>(kernels, rows, cols, cols + rows);
        for (size_t vectors : {1, 2, 5, 7, 13}) {  // one alone, quads, pairs of quads
          const std::vector<float> hidden = random_floats(vectors * cols, uint32_t(cols + vectors));
          for (Precision precision : {Precision::kHigh, Precision::kFast}) {
            expect_dots<F>(*table, hidden, precision);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  });
}

// Sets every byte of a block that can be set without making a weight infinite or NaN: the quants, for sure.
template <class F>
void fill_where_possible(uint8_t* bytes, uint8_t fill) {
  for (size_t i = 0; i < sizeof(typename F::Block); ++i) {
    const uint8_t before = std::exchange(bytes[i], fill);
    typename F::Block block;
    std::memcpy(&block, bytes, sizeof block);
    if (!ordinary<F>(block)) bytes[i] = before;
  }
}

// The largest quants against the largest activations of either sign: where an intermediate sum would wrap.
TEST(Kernels, ExtremesDoNotOverflow) {
  for_each_kernel([]<class F>(const KernelTable& kernels) {
    if constexpr (GroupFormat<F>) {
      constexpr uint32_t kCols = std::max<uint32_t>(256, F::kBlockSize);
      for (uint8_t fill : {0x00, 0x7f, 0x80, 0xff}) {
        auto table = random_table<F>(kernels, 4, kCols);
        MutableBytes bytes = table->plane(0);
        for (size_t at = 0; at < bytes.size(); at += sizeof(typename F::Block)) {
          fill_where_possible<F>(bytes.data() + at, fill);
        }
        for (float sign : {1.0f, -1.0f}) {
          expect_dots<F>(*table, std::vector<float>(kCols, sign * 3.0f), Precision::kHigh);
          expect_dots<F>(*table, std::vector<float>(kCols, sign * 3.0f), Precision::kFast);
        }
      }
    }
  });
}

TEST(Kernels, SubsetsAndBlocksGiveTheSameScores) {
  for_each_kernel([]<class F>(const KernelTable& kernels) {
    constexpr uint32_t kCols = std::max<uint32_t>(64, F::kBlockSize);
    auto table = random_table<F>(kernels, 41, kCols);
    const std::vector<float> hidden = random_floats(kCols, 9);
    std::vector<float> all(41), some(6);
    ASSERT_TRUE(table->logits(hidden, Precision::kHigh, {}, all).ok());
    const uint32_t only[] = {40, 0, 7, 7, 39, 12};
    ASSERT_TRUE(table->logits(hidden, Precision::kHigh, {only}, some).ok());
    for (size_t i = 0; i < 6; ++i) EXPECT_EQ(some[i], all[only[i]]);
  });
}

TEST(Kernels, ANanInTheHiddenVectorReachesEveryScore) {
  for_each_kernel([]<class F>(const KernelTable& kernels) {
    constexpr uint32_t kCols = std::max<uint32_t>(64, F::kBlockSize);
    auto table = random_table<F>(kernels, 5, kCols);
    std::vector<float> hidden = random_floats(kCols, 9);
    hidden[kCols - 2] = NAN;
    float out[5];
    for (Precision precision : {Precision::kHigh, Precision::kFast}) {
      ASSERT_TRUE(table->logits(hidden, precision, {}, out).ok());
      for (float score : out) EXPECT_TRUE(std::isnan(score));
    }
  });
}

TEST(Kernels, ZeroHiddenVectorsGiveZero) {
  for_each_kernel([]<class F>(const KernelTable& kernels) {
    constexpr uint32_t kCols = std::max<uint32_t>(64, F::kBlockSize);
    auto table = random_table<F>(kernels, 5, kCols);
    float out[5];
    ASSERT_TRUE(table->logits(std::vector<float>(kCols), Precision::kFast, {}, out).ok());
    for (float score : out) EXPECT_EQ(score, 0);
  });
}

}  // namespace
}  // namespace id2vec

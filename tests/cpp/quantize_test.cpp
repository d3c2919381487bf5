#include "tools/quantize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_table.h"
#include "tools/encoders.h"

namespace id2vec {
namespace {

const KernelTable& kernels() { return *kernel_table("scalar"); }

std::unique_ptr<Table> float_table(uint64_t rows, uint32_t cols, const std::vector<float>& values) {
  auto table = std::move(Table::allocate({dtype_by_name("F32"), rows, cols, {}}, kernels()).value());
  std::memcpy(table->plane(0).data(), values.data(), values.size() * sizeof(float));
  return table;
}

std::unique_ptr<Table> normal_table(uint64_t rows, uint32_t cols) {
  return float_table(rows, cols, random_floats(rows * cols, 11));
}

struct Bound {
  std::string_view dtype;
  double relative_error;  // of normally distributed weights; a little above what is seen
};

constexpr Bound kBounds[] = {
    {"F32", 0},     {"F16", 3e-4},  {"BF16", 2.5e-3}, {"Q8_0", 7e-3}, {"Q6_K", 0.02},   {"Q5_1", 0.045},
    {"Q5_0", 0.05}, {"Q4_K", 0.08}, {"Q4_1", 0.09},   {"Q4_0", 0.1},  {"IQ4_NL", 0.09}, {"AFFINE_8", 0.012},
};

TEST(Quantize, EveryFormatWithinItsError) {
  const auto source = normal_table(40, 256);
  size_t checked = 0;
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(bound.dtype);
    const auto quantized = quantize_table(*source, *dtype_by_name(bound.dtype));
    ASSERT_TRUE(quantized.ok()) << quantized.status().message();
    const auto report = compare_tables(*source, *quantized.value());
    ASSERT_TRUE(report.ok());
    EXPECT_LE(report.value().relative_error, bound.relative_error);
    EXPECT_GE(report.value().relative_error, bound.relative_error / 3);
    EXPECT_GE(report.value().worst_row_error, report.value().relative_error);
    EXPECT_GE(report.value().mean_cosine, 1 - bound.relative_error * bound.relative_error - 1e-12);
    EXPECT_EQ(report.value().source_bytes, 40u * 256 * 4);
    EXPECT_EQ(report.value().bytes, quantized.value()->bytes());
    EXPECT_EQ(report.value().sampled_rows, 40u);
    EXPECT_EQ(report.value().top1_agreement, 1);  // random rows are nearly orthogonal: nothing comes close
    ++checked;
  }
  EXPECT_EQ(checked, encoders().size());
}

// A table of three rows of which one is spoilt by hand: every figure of the report can be worked out.
TEST(Quantize, ReportOfAKnownDifference) {
  const auto source = float_table(3, 2, {3, 4, 0, 0, 1, 0});
  const auto spoilt = float_table(3, 2, {3, 4, 0, 0, 0, 1});
  const auto report = compare_tables(*source, *spoilt);
  ASSERT_TRUE(report.ok());
  EXPECT_DOUBLE_EQ(report.value().relative_error, std::sqrt(2.0 / 26));
  EXPECT_EQ(report.value().worst_row, 2u);
  EXPECT_DOUBLE_EQ(report.value().worst_row_error, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(report.value().mean_cosine, 0.5);  // rows 0 and 2; row 1 has no direction
  EXPECT_DOUBLE_EQ(report.value().top1_agreement, 1);
}

TEST(Quantize, TopOneThatChangesIsSeen) {
  const auto source = float_table(2, 2, {1, 0, 0, 1});
  const auto swapped = float_table(2, 2, {0, 1, 1, 0});
  EXPECT_EQ(compare_tables(*source, *swapped).value().top1_agreement, 0);
}

TEST(Quantize, WidthsThatDoNotFitFallBackAsLlamaCppDoes) {
  const auto chosen = [](std::string_view wanted, uint32_t cols) {
    return encodable_dtype(*dtype_by_name(wanted), cols)->name;
  };
  EXPECT_EQ(chosen("Q4_K", 512), "Q4_K");
  EXPECT_EQ(chosen("Q4_K", 288), "Q5_0");
  EXPECT_EQ(chosen("Q6_K", 64), "Q8_0");
  EXPECT_EQ(chosen("Q6_K", 100), "F16");
  EXPECT_EQ(chosen("Q4_0", 100), "F16");
  EXPECT_EQ(chosen("AFFINE_8", 100), "AFFINE_8");
  EXPECT_EQ(chosen("I8", 100), "AFFINE_8");
  EXPECT_EQ(encodable_dtype(*dtype_by_name("TQ1_0"), 256), nullptr);
}

TEST(Quantize, RefusesWhatItCannotWrite) {
  const auto source = normal_table(2, 100);
  EXPECT_EQ(quantize_table(*source, *dtype_by_name("IQ2_S")).status().code(), Code::kUnsupported);
  EXPECT_EQ(quantize_table(*source, *dtype_by_name("Q4_K")).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(compare_tables(*source, *normal_table(2, 96)).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace id2vec

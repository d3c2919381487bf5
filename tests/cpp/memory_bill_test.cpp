#include "model/memory_bill.h"

#include <gtest/gtest.h>

namespace id2vec {
namespace {

uint64_t bytes_in(const MemoryBill& bill, std::string_view format) {
  for (const FormatCost& cost : bill.formats) {
    if (cost.format == format) return cost.bytes;
  }
  return 0;
}

// 32,000 · 512 = 16,384,000 parameters, and GPT-2 small's 50,257 · 768.
TEST(MemoryBill, CountsParameters) {
  EXPECT_EQ(memory_bill({.rows = 32000, .cols = 512}).value().parameters, 16384000u);
  EXPECT_EQ(memory_bill({.rows = 50257, .cols = 768}).value().parameters, 38597376u);
}

TEST(MemoryBill, EveryFormatWithItsBlockMetadata) {
  const MemoryBill bill = memory_bill({.rows = 50257, .cols = 4096}).value();
  EXPECT_EQ(bytes_in(bill, "F32"), 50257ull * 4096 * 4);
  EXPECT_EQ(bytes_in(bill, "F16"), 50257ull * 4096 * 2);
  EXPECT_EQ(bytes_in(bill, "Q8_0"), 50257ull * 4096 / 32 * 34);
  EXPECT_EQ(bytes_in(bill, "Q4_0"), 50257ull * 4096 / 32 * 18);
  EXPECT_EQ(bytes_in(bill, "Q6_K"), 50257ull * 4096 / 256 * 210);
  // d = 64 is no whole number of 256-weight blocks.
  EXPECT_EQ(bytes_in(memory_bill({.rows = 512, .cols = 64}).value(), "Q6_K"), 0u);
}

TEST(MemoryBill, TyingAndTheShareOfTheFile) {
  const MemoryBill untied =
      memory_bill({.rows = 100, .cols = 32, .table_bytes = 12800, .head_bytes = 6400, .file_bytes = 76800})
          .value();
  EXPECT_EQ(untied.bytes, 19200u);
  EXPECT_EQ(untied.share_of_file, 0.25);
  EXPECT_EQ(untied.saved_by_tying, 6400u);
  EXPECT_EQ(untied.bits_per_weight, 32);
  EXPECT_EQ(memory_bill({.rows = 100, .cols = 32, .table_bytes = 12800}).value().saved_by_tying, 12800u);
}

// V · k + k · d against V · d.
TEST(MemoryBill, Factorization) {
  const MemoryBill bill = memory_bill({.rows = 30000, .cols = 768, .table_bytes = 30000 * 768 * 2}).value();
  ASSERT_EQ(bill.factorized.size(), 3u);
  EXPECT_EQ(bill.factorized[0].rank, 384u);
  EXPECT_EQ(bill.factorized[0].parameters, 384u * 30768);
  EXPECT_EQ(bill.factorized[0].bytes, 384u * 30768 * 2);
  EXPECT_EQ(bill.break_even_rank, 749u);  // 30000 · 768 / 30768 = 748.8
  // A table that is no taller than wide gains nothing at half its width.
  EXPECT_EQ(memory_bill({.rows = 64, .cols = 64}).value().factorized.size(), 2u);
}

TEST(MemoryBill, RefusesWhatCannotBeCounted) {
  EXPECT_EQ(memory_bill({.rows = uint64_t{1} << 40, .cols = uint64_t{1} << 30}).status().code(),
            Code::kLimit);
  EXPECT_EQ(memory_bill({.rows = 0, .cols = 4}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace id2vec

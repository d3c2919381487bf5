// The affine integer formats against hand-worked rows in the layouts of those who write them, and against the
// formula in double precision for random ones.
#include "formats/affine.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "random_table.h"

namespace id2vec {
namespace {

template <class T>
std::vector<uint8_t> bytes_of(std::initializer_list<T> values) {
  std::vector<uint8_t> bytes;
  for (T value : values) {
    for (size_t i = 0; i < sizeof(T); ++i) bytes.push_back(reinterpret_cast<const uint8_t*>(&value)[i]);
  }
  return bytes;
}

struct Row {
  std::vector<uint8_t> quants, scales, offsets;
  AffineSpec spec;
  AffineRow view() const { return {quants.data(), scales.data(), offsets.data(), &spec}; }
};

template <class F>
std::vector<float> decode(const Row& row, size_t cols) {
  std::vector<float> values;
  for (size_t i = 0; i < cols; ++i) values.push_back(F::value(row.view(), i));
  return values;
}

TEST(Affine, NamesSayTheWidth) {
  EXPECT_EQ(Affine2::kName, "AFFINE_2");
  EXPECT_EQ(Affine6::kName, "AFFINE_6");
}

// MLX packs into 32-bit words, low bits first: 0x76543210 are the eight nibbles 0 … 7.
TEST(Affine, MlxWordsOfFourBits) {
  Row row{bytes_of({0x76543210u, 0xfedcba98u}),
          bytes_of<uint16_t>({0x3800, 0x3c00}),                                              // 0.5, 1
          bytes_of<uint16_t>({0xbc00, 0x4000}),                                              // −1, 2
          {.group_size = 8, .scale_type = ScaleType::kF16, .offsets = Offsets::kBiases}};
  EXPECT_EQ(decode<Affine4>(row, 16), (std::vector<float>{-1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5,  //
                                                          10, 11, 12, 13, 14, 15, 16, 17}));
}

// Three bits: element 2 spans the first two bytes, element 5 the last two. 1 2 3 4 5 6 7 0 →
// 0b000'111'110'101'100'011'010'001.
TEST(Affine, MlxBytesOfThreeBits) {
  Row row{{0xd1, 0x58, 0x1f},
          bytes_of<uint16_t>({0x3f80}),
          bytes_of<uint16_t>({0xc040}),  // BF16 1, −3
          {.group_size = 8, .scale_type = ScaleType::kBF16, .offsets = Offsets::kBiases}};
  EXPECT_EQ(decode<Affine3>(row, 8), (std::vector<float>{-2, -1, 0, 1, 2, 3, 4, -3}));
}

// Six bits: 1, 2, 32, 63 → 0b111111'100000'000010'000001.
TEST(Affine, MlxBytesOfSixBits) {
  Row row{{0x81, 0x00, 0xfe},
          bytes_of({2.0f}),
          bytes_of({0.25f}),
          {.group_size = 4, .offsets = Offsets::kBiases}};
  EXPECT_EQ(decode<Affine6>(row, 4), (std::vector<float>{2.25f, 4.25f, 64.25f, 126.25f}));
}

// ORT without zero points: the middle of the range is zero.
TEST(Affine, OrtBlocksWithTheDefaultZeroPoint) {
  Row row{{0x80, 0xf7}, bytes_of({0.5f}), {}, {.group_size = 16, .zero_point = 8}};
  EXPECT_EQ(decode<Affine4>(row, 4), (std::vector<float>{-4, 0, -0.5f, 3.5f}));
  Row crumbs{{0b11100100}, bytes_of({1.0f}), {}, {.group_size = 16, .zero_point = 2}};
  EXPECT_EQ(decode<Affine2>(crumbs, 4), (std::vector<float>{-2, -1, 0, 1}));
  Row bytes{{0, 128, 255}, bytes_of({1.0f}), {}, {.group_size = 16, .zero_point = 128}};
  EXPECT_EQ(decode<Affine8>(bytes, 3), (std::vector<float>{-128, 0, 127}));
}

// Zero points are packed as the quants are; here 3 for the first group and 12 for the second.
TEST(Affine, OrtBlocksWithZeroPoints) {
  Row row{{0x10, 0x32, 0xdc, 0xfe},
          bytes_of({1.0f, 2.0f}),
          {0xc3},
          {.group_size = 4, .offsets = Offsets::kZeroPoints}};
  EXPECT_EQ(decode<Affine4>(row, 8), (std::vector<float>{-3, -2, -1, 0, 0, 2, 4, 6}));
}

TEST(Affine, SignedNibblesAndSignedZeroPoints) {
  Row row{{0x8f, 0x70},
          bytes_of({1.0f}),
          {0x0e},
          {.group_size = 4, .offsets = Offsets::kZeroPoints, .is_signed = true}};
  EXPECT_EQ(decode<Affine4>(row, 4), (std::vector<float>{1, -6, 2, 9}));  // −1, −8, 0, 7 minus −2
}

// bitsandbytes keeps the largest magnitude of a row, SCB; a quant of ±127 is that weight.
TEST(Affine, RowMaximaInsteadOfScales) {
  Row row{bytes_of<int8_t>({127, -127, 0, 1}),
          bytes_of({6.35f}),
          {},
          {.group_size = 4, .is_signed = true, .scale_factor = 1 / 127.0f}};
  const std::vector<float> values = decode<Affine8>(row, 4);
  EXPECT_NEAR(values[0], 6.35, 1e-6);
  EXPECT_EQ(values[1], -values[0]);
  EXPECT_EQ(values[2], 0);
  EXPECT_NEAR(values[3], 0.05, 1e-8);
}

// A negative scale times 0 is −0; nothing may be added to it that makes it +0.
TEST(Affine, KeepsNegativeZeroWithoutBiases) {
  Row row{{0}, bytes_of({-1.0f}), {}, {.group_size = 1, .is_signed = true}};
  EXPECT_TRUE(std::signbit(Affine8::value(row.view(), 0)));
}

TEST(Affine, RowBytesCountPartialGroupsAndBytes) {
  AffineSpec spec{.group_size = 32, .scale_type = ScaleType::kF16, .offsets = Offsets::kZeroPoints};
  const AffineRowBytes four = affine_row_bytes(spec, 4, 100);  // 4 groups
  EXPECT_EQ(four.quants, 50u);
  EXPECT_EQ(four.scales, 8u);
  EXPECT_EQ(four.offsets, 2u);
  spec.offsets = Offsets::kBiases;
  EXPECT_EQ(affine_row_bytes(spec, 3, 96).quants, 36u);
  EXPECT_EQ(affine_row_bytes(spec, 3, 96).offsets, 6u);
  spec.offsets = Offsets::kNone;
  EXPECT_EQ(affine_row_bytes(spec, 3, 96).offsets, 0u);
}

// Packs integers by arithmetic on a bit list, which shares nothing with load_bits.
std::vector<uint8_t> pack(const std::vector<int>& values, uint32_t bits) {
  std::vector<bool> stream;
  for (int value : values) {
    for (uint32_t bit = 0; bit < bits; ++bit) stream.push_back(value >> bit & 1);
  }
  stream.resize((stream.size() + 7) / 8 * 8);
  std::vector<uint8_t> bytes(stream.size() / 8);
  for (size_t i = 0; i < stream.size(); ++i) bytes[i / 8] = uint8_t(bytes[i / 8] | stream[i] << i % 8);
  return bytes;
}

class Random {
 public:
  uint32_t operator()() { return (state_ = state_ * 1664525 + 1013904223) >> 8; }
  int below(int bound) { return int((*this)() % uint32_t(bound)); }

 private:
  uint32_t state_ = 7;
};

// scale · (q − zero) + bias in double is within one rounding of the product and one of the sum.
template <class F>
void expect_formula(Random& random, Offsets offsets, bool is_signed) {
  constexpr size_t kCols = 96, kGroup = 32;
  constexpr int kRange = 1 << F::kBits;
  const int lowest = is_signed ? -kRange / 2 : 0;
  std::vector<int> quants(kCols), zeros(kCols / kGroup);
  for (int& q : quants) q = lowest + random.below(kRange);
  for (int& z : zeros) z = lowest + random.below(kRange);
  std::array<float, 3> scales{}, biases{};
  for (float& scale : scales) scale = float(random.below(2000) - 1000) / 777;
  for (float& bias : biases) bias = float(random.below(2000) - 1000) / 333;
  Row row{pack(quants, F::kBits),
          bytes_of({scales[0], scales[1], scales[2]}),
          offsets == Offsets::kBiases ? bytes_of({biases[0], biases[1], biases[2]}) : pack(zeros, F::kBits),
          {.group_size = kGroup, .offsets = offsets, .is_signed = is_signed, .zero_point = 1}};
  for (size_t i = 0; i < kCols; ++i) {
    const size_t g = i / kGroup;
    const double zero = offsets == Offsets::kZeroPoints ? zeros[g] : 1;
    const double bias = offsets == Offsets::kBiases ? biases[g] : 0;
    const double product = double(scales[g]) * (quants[i] - zero);
    const float value = F::value(row.view(), i);
    EXPECT_NEAR(value, product + bias, 0x1p-24 * (std::abs(product) + std::abs(product + bias)))
        << F::kName << i;
    if (offsets != Offsets::kBiases) {
      EXPECT_EQ(value, float(product));
    }
    EXPECT_GE(F::quant(row.view(), i), -kRange / 2);
    EXPECT_LT(F::quant(row.view(), i), kRange / 2);
  }
}

TEST(Affine, MatchesTheFormulaInDouble) {
  Random random;
  for (Offsets offsets : {Offsets::kNone, Offsets::kZeroPoints, Offsets::kBiases}) {
    for (bool is_signed : {false, true}) {
      expect_formula<Affine2>(random, offsets, is_signed);
      expect_formula<Affine3>(random, offsets, is_signed);
      expect_formula<Affine4>(random, offsets, is_signed);
      expect_formula<Affine6>(random, offsets, is_signed);
      expect_formula<Affine8>(random, offsets, is_signed);
    }
  }
}

Result<std::unique_ptr<Table>> allocate(std::string_view dtype, uint32_t cols, AffineSpec spec) {
  return Table::allocate({dtype_by_name(dtype), 3, cols, spec}, *kernel_table("scalar"));
}

TEST(AffineTable, AllocatesEveryPlaneApart) {
  auto table = allocate("AFFINE_4", 64, {.group_size = 32, .offsets = Offsets::kZeroPoints});
  ASSERT_TRUE(table.ok()) << table.status().message();
  EXPECT_EQ(table.value()->plane(0).size(), 3u * 32);
  EXPECT_EQ(table.value()->plane(1).size(), 3u * 2 * 4);
  EXPECT_EQ(table.value()->plane(2).size(), 3u * 1);
  EXPECT_EQ(table.value()->bytes(), 3u * (32 + 8 + 1));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(table.value()->plane(i).data()) % 64, 0u);
    std::memset(table.value()->plane(i).data(), 0, table.value()->plane(i).size());  // the sanitizer watches
  }
}

TEST(AffineTable, OneScaleForTheWholeTensor) {
  auto table =
      allocate("AFFINE_8", 3, {.group_size = 3, .is_signed = true, .per_tensor = true, .zero_point = 1});
  ASSERT_TRUE(table.ok()) << table.status().message();
  const std::vector<uint8_t> quants{0, 1, 2, 3, 4, 5, 0xff, 0x80, 0x7f};
  std::memcpy(table.value()->plane(0).data(), quants.data(), quants.size());
  ASSERT_EQ(table.value()->plane(1).size(), 4u);
  store_le(table.value()->plane(1).data(), 0.5f);
  const uint32_t ids[] = {2, 0};
  std::vector<float> out(6);
  ASSERT_TRUE(table.value()->lookup(ids, out).ok());
  EXPECT_EQ(out, (std::vector<float>{-1, -64.5f, 63, -0.5f, 0, 0.5f}));
}

// Layouts as their makers have them, and a few that nobody has.
constexpr AffineSpec kSpecs[] = {
    {.group_size = 32, .scale_type = ScaleType::kF16, .offsets = Offsets::kBiases},
    {.group_size = 64, .scale_type = ScaleType::kBF16, .offsets = Offsets::kBiases, .is_signed = true},
    {.group_size = 128, .offsets = Offsets::kBiases, .zero_point = 3},
    {.group_size = 16, .scale_type = ScaleType::kF16, .offsets = Offsets::kZeroPoints},
    {.group_size = 48, .offsets = Offsets::kZeroPoints, .is_signed = true},
    {.group_size = 16, .zero_point = 2},
    {.group_size = 4096, .is_signed = true},
    {.group_size = 4096, .offsets = Offsets::kZeroPoints, .per_tensor = true},
    {.group_size = 4096, .is_signed = true, .per_tensor = true, .scale_factor = 1 / 127.0f},
};

// Instruction sets differ in nothing: rows are the same bit for bit, whatever the width of the row.
TEST(AffineTable, EveryInstructionSetDecodesEveryLayout) {
  for (const KernelTable* kernels : kernel_tables()) {
    Formats::for_each([&]<class F>() {
      if constexpr (PlanarFormat<F>) {
        for (const AffineSpec& spec : kSpecs) {
          for (uint32_t cols : {8, 16, 40, 96, 264, 520}) {
            const auto table = random_table<F>(*kernels, 3, cols, cols, spec);
            const uint32_t ids[] = {2, 0};
            std::vector<float> out(2 * cols);
            ASSERT_TRUE(table->lookup(ids, out).ok());
            for (size_t i = 0; i < out.size(); ++i) {
              const float expected = weight<F>(*table, ids[i / cols], uint32_t(i % cols));
              ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(expected))
                  << kernels->isa << " " << F::kName << " group " << spec.group_size << " width " << cols
                  << " at " << i;
            }
          }
        }
      }
    });
  }
}

TEST(AffineTable, RefusesGroupsThatNoKernelTakes) {
  for (uint32_t group_size : {0u, 8u, 24u}) {
    const auto table = allocate("AFFINE_4", 64, {.group_size = group_size});
    EXPECT_EQ(table.status().code(), Code::kUnsupported) << group_size;
    EXPECT_NE(table.status().message().find("AFFINE_4"), std::string::npos);
  }
  EXPECT_FALSE(allocate("AFFINE_3", 60, {.group_size = 64}).ok());  // 60 · 3 bits end inside a byte
  EXPECT_TRUE(allocate("AFFINE_4", 60, {.group_size = 60}).ok());
}

}  // namespace
}  // namespace id2vec

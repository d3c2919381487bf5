// Every encoding of the small float formats, against double arithmetic that shares no code with core/half.h.
#include "core/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace id2vec {
namespace {

struct Layout {
  int exponent_bits, mantissa_bits, bias;
};

// sign · (1 + mantissa) · 2^(exponent − bias), or sign · mantissa · 2^(1 − bias) where the exponent field is
// 0.
double decode(uint32_t bits, Layout layout) {
  const uint32_t mantissa = bits & ((1u << layout.mantissa_bits) - 1);
  const int exponent = int(bits >> layout.mantissa_bits & ((1u << layout.exponent_bits) - 1));
  const bool negative = bits >> (layout.mantissa_bits + layout.exponent_bits) & 1;
  const double fraction = std::ldexp(double(mantissa), -layout.mantissa_bits);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - layout.bias)
                                         : std::ldexp(1 + fraction, exponent - layout.bias);
  return negative ? -magnitude : magnitude;
}

void expect_same(float actual, double expected, uint32_t bits) {
  EXPECT_EQ(double(actual), expected) << std::hex << bits;
  EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << std::hex << bits;
}

constexpr Layout kF16{5, 10, 15}, kE4M3{4, 3, 7}, kE5M2{5, 2, 15};

TEST(Half, DecodesEveryF16) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float actual = f16_to_float(uint16_t(bits));
    if ((bits & 0x7fff) > 0x7c00) {
      EXPECT_TRUE(std::isnan(actual)) << std::hex << bits;
    } else if ((bits & 0x7fff) == 0x7c00) {
      EXPECT_EQ(actual, bits & 0x8000 ? -INFINITY : INFINITY);
    } else {
      expect_same(actual, decode(bits, kF16), bits);
    }
  }
}

TEST(Half, EncodesWhatItDecodes) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const bool f16_nan = (bits & 0x7fff) > 0x7c00;
    EXPECT_EQ(float_to_f16(f16_to_float(uint16_t(bits))), f16_nan ? (bits & 0x8000) | 0x7e00 : bits);
    const bool bf16_nan = (bits & 0x7fff) > 0x7f80;
    EXPECT_EQ(float_to_bf16(bf16_to_float(uint16_t(bits))), bf16_nan ? bits | 0x40 : bits);
  }
}

// Between two neighbours lie the midpoint (to the even one) and everything else (to the nearer one).
TEST(Half, RoundsEveryF16MidpointToEven) {
  for (uint32_t low = 0; low < 0x7c00; ++low) {
    const double next = low == 0x7bff ? 65536.0 : decode(low + 1, kF16);
    const float midpoint = float((decode(low, kF16) + next) / 2);  // exact: one more bit than F16 has
    const uint32_t even = low & 1 ? low + 1 : low;
    EXPECT_EQ(float_to_f16(midpoint), even) << std::hex << low;
    EXPECT_EQ(float_to_f16(-midpoint), even | 0x8000) << std::hex << low;
    EXPECT_EQ(float_to_f16(std::nextafterf(midpoint, 0.0f)), low) << std::hex << low;
    EXPECT_EQ(float_to_f16(std::nextafterf(midpoint, INFINITY)), low + 1) << std::hex << low;
  }
}

TEST(Half, RoundsEveryBf16MidpointToEven) {
  for (uint32_t low = 0; low < 0x7f80; ++low) {
    const float midpoint = std::bit_cast<float>(low << 16 | 0x8000);
    EXPECT_EQ(float_to_bf16(midpoint), low & 1 ? low + 1 : low) << std::hex << low;
    EXPECT_EQ(float_to_bf16(std::bit_cast<float>(low << 16 | 0x7fff)), low) << std::hex << low;
    EXPECT_EQ(float_to_bf16(std::bit_cast<float>(low << 16 | 0x8001)), low + 1) << std::hex << low;
  }
}

TEST(Half, KeepsSpecialValues) {
  EXPECT_EQ(float_to_f16(INFINITY), 0x7c00);
  EXPECT_EQ(float_to_f16(-INFINITY), 0xfc00);
  EXPECT_EQ(float_to_f16(1e30f), 0x7c00);
  EXPECT_EQ(float_to_f16(-0.0f), 0x8000);
  EXPECT_EQ(float_to_f16(1e-30f), 0);
  EXPECT_EQ(float_to_f16(NAN) & 0x7fff, 0x7e00);
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x7f800001u)), 0x7fc0);  // a NaN whose payload is cut off
}

TEST(Half, DecodesEveryByte) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const uint8_t byte = uint8_t(bits);
    if ((bits & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(f8_e4m3fn_to_float(byte)));
    } else {
      expect_same(f8_e4m3fn_to_float(byte), decode(bits, kE4M3), bits);
    }
    if ((bits & 0x7f) > 0x7c) {
      EXPECT_TRUE(std::isnan(f8_e5m2_to_float(byte)));
    } else if ((bits & 0x7f) == 0x7c) {
      EXPECT_EQ(f8_e5m2_to_float(byte), bits & 0x80 ? -INFINITY : INFINITY);
    } else {
      expect_same(f8_e5m2_to_float(byte), decode(bits, kE5M2), bits);
    }
    expect_same(ue4m3_to_float(byte), bits == 0x7f ? 0 : decode(bits & 0x7f, kE4M3), bits);
    expect_same(e8m0_half_to_float(byte), std::ldexp(1.0, int(bits) - 128), bits);
  }
}

}  // namespace
}  // namespace id2vec

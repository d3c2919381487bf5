// Small floating-point formats ↔ float. Decoding is exact; encoding rounds to the nearest value, ties to
// even.
//
//   format   sign exponent mantissa  bias  largest   inf  NaN
//   F16         1        5       10    15    65504   yes  exponent 31, mantissa ≠ 0
//   BF16        1        8        7   127   3.39e38  yes  the upper half of a float
//   F8_E4M3     1        4        3     7      448   no   0x7F and 0xFF ("fn": finite and NaN only)
//   F8_E5M2     1        5        2    15    57344   yes  the upper half of an F16
//   UE4M3       0        4        3     7      448   no   none: ggml reads 0x7F as 0
//   E8M0        0        8        0   127    2^128   no   none: ggml reads 0xFF as 2^128
#pragma once

#include <bit>
#include <cstdint>

namespace id2vec {

// A NaN keeps its sign and payload.
constexpr float f16_to_float(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 31;
  const uint32_t mantissa = half & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: mantissa · 2^-24, exact in float
    return std::bit_cast<float>(std::bit_cast<uint32_t>(float(mantissa) * 0x1p-24f) | sign);
  }
  const uint32_t float_exponent = exponent == 31 ? 255 : exponent + (127 - 15);
  return std::bit_cast<float>(sign | float_exponent << 23 | mantissa << 13);
}

// Overflow gives infinity; every NaN becomes the quiet NaN 0x7E00 with its sign (as ggml does).
constexpr uint16_t float_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and above round to infinity
  if (magnitude < 0x38800000) {
    // Below 2^-14 an F16 counts in steps of 2^-24, which is the step of floats in [0.5, 1): adding 0.5 lets
    // the float addition do the rounding.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | uint16_t(std::bit_cast<uint32_t>(shifted) - 0x3f000000);
  }
  const uint32_t odd = magnitude >> 13 & 1;
  return sign | uint16_t((magnitude - (uint32_t(127 - 15) << 23) + 0xfff + odd) >> 13);
}

constexpr float bf16_to_float(uint16_t upper) { return std::bit_cast<float>(uint32_t(upper) << 16); }

// A NaN stays a NaN: its quiet bit is set, so that cutting the payload cannot turn it into infinity.
constexpr uint16_t float_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

constexpr float f8_e4m3fn_to_float(uint8_t byte) {
  const uint32_t sign = uint32_t(byte & 0x80) << 24;
  const uint32_t magnitude = byte & 0x7f;
  if (magnitude == 0x7f) return std::bit_cast<float>(sign | 0x7fc00000);
  if (magnitude < 8) return std::bit_cast<float>(std::bit_cast<uint32_t>(float(magnitude) * 0x1p-9f) | sign);
  return std::bit_cast<float>(sign | ((magnitude << 20) + (uint32_t(127 - 7) << 23)));
}

constexpr float f8_e5m2_to_float(uint8_t byte) { return f16_to_float(uint16_t(byte << 8)); }

// The scale of NVFP4, as ggml reads it: 0x7F counts as 0, bit 7 is ignored.
constexpr float ue4m3_to_float(uint8_t byte) {
  if (byte == 0x7f) return 0.0f;
  const uint32_t exponent = byte >> 3 & 15;
  const uint32_t mantissa = byte & 7;
  if (exponent == 0) return float(mantissa) * 0x1p-9f;
  return std::bit_cast<float>((exponent + (127 - 7)) << 23 | mantissa << 20);
}

// Half of an E8M0: 2^(byte - 128). The half is a float for all 256 bytes, the whole is not (2^128).
constexpr float e8m0_half_to_float(uint8_t byte) {
  // 2^-128 and 2^-127 are subnormal floats.
  const uint32_t bits = byte < 2 ? 0x00200000u << byte : uint32_t(byte - 1) << 23;
  return std::bit_cast<float>(bits);
}

}  // namespace id2vec

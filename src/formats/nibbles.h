// Bit layouts that several formats share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd.h"

namespace id2vec {

// ggml's order of 2n nibbles in n bytes: low nibbles are elements 0 … n−1, high nibbles are elements n …
// 2n−1.
template <size_t kBytes>
constexpr int32_t split_nibble(const uint8_t* bytes, size_t i) {
  return bytes[i % kBytes] >> (i / kBytes * 4) & 15;
}

// The same of 16 bytes: low nibbles, then high nibbles.
inline void split_nibbles(v128_t bytes, v128_t (&nibbles_i8x16)[2]) {
  const v128_t mask = pinned_i32x4<0x0f0f0f0f>();
  nibbles_i8x16[0] = wasm_v128_and(bytes, mask);
  nibbles_i8x16[1] = wasm_v128_and(wasm_u16x8_shr(bytes, 4), mask);
}

// The `n` bits from `shift` on of every byte.
template <size_t n>
v128_t bits_of(v128_t bytes, size_t shift) {
  constexpr uint32_t kMask = (1u << n) - 1;
  return wasm_v128_and(wasm_u16x8_shr(bytes, uint32_t(shift)), pinned_i32x4<kMask * 0x01010101u>());
}

// Bit i of the 32 bits in `high` becomes bit 4 of byte i.
inline void add_fifth_bits(const uint8_t* high, v128_t (&raw_i8x16)[2]) {
  static constexpr uint8_t kByteOfBit[2][16] = {{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1},
                                                {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3}};
  static constexpr uint8_t kBit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const v128_t bits = wasm_v128_load32_splat(high);
  const v128_t bit = wasm_v128_load(unknown_origin(kBit));
  for (size_t i = 0; i < 2; ++i) {
    const v128_t spread = wasm_i8x16_swizzle(bits, wasm_v128_load(unknown_origin(kByteOfBit[i])));
    const v128_t set = wasm_i8x16_eq(wasm_v128_and(spread, bit), bit);
    raw_i8x16[i] = wasm_v128_or(raw_i8x16[i], wasm_v128_and(set, pinned_i32x4<0x10101010>()));
  }
}

// 16 nibbles through a table of 16 bytes.
inline v128_t levels_of(const void* levels, v128_t nibbles_i8x16) {
  return wasm_i8x16_swizzle(wasm_v128_load(unknown_origin(levels)), nibbles_i8x16);
}

// The 16 levels of IQ4_NL and IQ4_XS, from the published definition of the format.
inline constexpr int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};

// Twice the values of E2M1 (sign, 2 exponent bits, 1 mantissa bit); both zeros are 0.
inline constexpr int8_t kE2m1Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
// The same, raised by 12: never negative.
inline constexpr int8_t kE2m1Raised[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

}  // namespace id2vec

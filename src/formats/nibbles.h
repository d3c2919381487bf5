// Bit layouts that several formats share.
#pragma once

#include <array>
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

// The `n` bits from `from` on of every byte, moved to bit `to`.
template <size_t n, size_t to>
v128_t bits_moved(v128_t bytes, size_t from) {
  constexpr uint32_t kMask = ((1u << n) - 1) << to;
  const v128_t moved =
      from >= to ? wasm_u16x8_shr(bytes, uint32_t(from - to)) : wasm_i16x8_shl(bytes, uint32_t(to - from));
  return wasm_v128_and(moved, pinned_i32x4<kMask * 0x01010101u>());
}

// Byte i of kFifthBits[x] is bit i of x, at the place of a fifth bit. A table, because looking up leaves the vector
// units to the rest of the work.
inline constexpr std::array<uint64_t, 256> kFifthBits = [] {
  std::array<uint64_t, 256> table{};
  for (uint64_t x = 0; x < 256; ++x) {
    for (int bit = 0; bit < 8; ++bit) table[x] |= (x >> bit & 1) << (8 * bit + 4);
  }
  return table;
}();

// Bit i of the 32 bits in `high` becomes bit 4 of byte i.
inline void add_fifth_bits(const uint8_t* high, v128_t (&raw_i8x16)[2]) {
  for (size_t i = 0; i < 2; ++i) {
    const v128_t low_half = wasm_v128_load64_zero(&kFifthBits[high[2 * i]]);
    raw_i8x16[i] =
        wasm_v128_or(raw_i8x16[i], wasm_v128_load64_lane(&kFifthBits[high[2 * i + 1]], low_half, 1));
  }
}

// 16 nibbles through a table of 16 bytes.
inline v128_t levels_of(const void* levels, v128_t nibbles_i8x16) {
  const v128_t table = wasm_v128_load(unknown_origin(levels));
#ifdef __wasm_relaxed_simd__
  return wasm_i8x16_relaxed_swizzle(table, nibbles_i8x16);  // differs for indices above 15 alone
#else
  return wasm_i8x16_swizzle(table, nibbles_i8x16);
#endif
}

// The 16 levels of IQ4_NL and IQ4_XS, from the published definition of the format.
inline constexpr int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};

// The same, raised by 127: never negative.
inline constexpr uint8_t kIq4Raised[16] = {0,   23,  44,  62,  78,  92,  105, 117,
                                           128, 140, 152, 165, 180, 196, 216, 240};

// Twice the values of E2M1 (sign, 2 exponent bits, 1 mantissa bit); both zeros are 0.
inline constexpr int8_t kE2m1Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
// The same, raised by 12: never negative.
inline constexpr int8_t kE2m1Raised[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

}  // namespace id2vec

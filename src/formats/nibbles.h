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

// The 16 levels of IQ4_NL and IQ4_XS, from the published definition of the format.
inline constexpr int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};

// Twice the values of E2M1 (sign, 2 exponent bits, 1 mantissa bit); both zeros are 0.
inline constexpr int8_t kE2m1Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace id2vec

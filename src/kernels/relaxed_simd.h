// The relaxed operations that the kernels use. Natively they are spelled out: SIMDe 0.7 predates their final names.
#pragma once

#include "core/simd.h"

#ifndef __wasm__

// One of the results that the specification allows: two roundings.
inline v128_t wasm_f32x4_relaxed_madd(v128_t a, v128_t b, v128_t c) {
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
}

// Products of signed bytes, added in pairs; wraps as the lanes do.
inline v128_t wasm_i16x8_relaxed_dot_i8x16_i7x16(v128_t a, v128_t b) {
  const v128_t low = wasm_i16x8_extmul_low_i8x16(a, b), high = wasm_i16x8_extmul_high_i8x16(a, b);
  const v128_t even = wasm_i16x8_shuffle(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
  const v128_t odd = wasm_i16x8_shuffle(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
  return wasm_i16x8_add(even, odd);
}

#endif

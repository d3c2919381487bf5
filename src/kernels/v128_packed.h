// What the kernels ask of a format's SIMD part, and how they look at a group of its quants.
//
//   kZero                      raw quant = q + kZero, 0 … 255; or any int8 (then kZero is 0)
//   raw(block, group, raw)     the raw quants of a group in their order, 16 to a vector (i8x16)
//   scales(blocks, scale, offset)
//                              scale and offset of every group of four blocks: lane r of scale[group] is that of
//                              *blocks[r]; offset is left alone where the format has none
//   raw_i16x8(block, group, w) optional: the raw quants as 16-bit numbers, 8 to a vector, where the format has a
//                              cheaper way than widening raw()
//   kUnroll                    optional: raw() of this many groups in a row differs in constants alone
//   kRare                      optional, true: small code is worth more than fast code
#pragma once

#include <utility>

#include "core/simd.h"
#include "formats/format.h"

namespace id2vec::v128 {

template <class F>
constexpr size_t kVectors = F::kGroupSize / 16;  // of raw quants in a group
template <class F>
constexpr size_t kGroups = F::kBlockSize / F::kGroupSize;
template <class F>
constexpr bool kSigned = F::kQuantMin + F::kZero < 0;

template <class F>
constexpr bool kRare = requires { F::kRare; };

// The greatest raw quant as an unsigned byte.
template <class F>
constexpr int32_t kMaxRaw = kSigned<F> ? 255 : F::kQuantMax + F::kZero;
// Small enough for the second operand of a relaxed dot product, and for four products in 16 bits.
template <class F>
constexpr bool kSixBits = kMaxRaw<F> <= 63;

// Stretches hold signed bytes: raw quants, or quants where raw ones may be greater than 127. Then this is 0.
template <class F>
constexpr int32_t kStretchZero = kMaxRaw<F> <= 127 ? F::kZero : 0;

template <class F>
concept PackedFormat = GroupFormat<F> && requires {
  F::kZero;
} && (kSigned<F> ? F::kZero == 0 : F::kQuantMin + F::kZero >= 0 && F::kQuantMax + F::kZero <= 255);

// f.operator()<0>(), … <n − 1>(): a loop whose index is a constant.
template <size_t n, class Body>
ID2VEC_INLINE inline void unrolled(Body&& body) {
  [&]<size_t... i>(std::index_sequence<i...>)
      ID2VEC_INLINE { (body.template operator()<i>(), ...); }(std::make_index_sequence<n>{});
}

// body(group) for 0 … n − 1; within a run of kUnroll groups the compiler knows which one it is.
template <class F, class Body>
ID2VEC_INLINE inline void for_each_group(size_t n, Body&& body) {
  if constexpr (requires { F::kUnroll; }) {
    for (size_t first = 0; first < n; first += F::kUnroll) {
      const size_t whole = first / F::kUnroll * F::kUnroll;
      unrolled<F::kUnroll>([&]<size_t i>() ID2VEC_INLINE { body(whole + i); });
    }
  } else {
    for (size_t group = 0; group < n; ++group) body(group);
  }
}

// Raw quants to quants.
template <int32_t kZero>
inline v128_t minus_zero(v128_t raw_i8x16) {
  if constexpr (kZero == 0) return raw_i8x16;
  return wasm_i8x16_sub(raw_i8x16, pinned_i32x4<kZero * 0x01010101u>());
}

// The order of 16 weights in two vectors of 16-bit numbers: unsigned bytes are cheapest split into those at even and
// at odd places, signed ones into the first and the last eight. Activations are stored in the same order.
enum class Order { kHalves, kEvenOdd };
template <class F>
constexpr Order kOrder = kSigned<F> ? Order::kHalves : Order::kEvenOdd;

template <Order order>
inline void widen(v128_t raw_i8x16, v128_t& first_i16x8, v128_t& second_i16x8) {
  if constexpr (order == Order::kHalves) {
    first_i16x8 = wasm_i16x8_extend_low_i8x16(raw_i8x16);
    second_i16x8 = wasm_i16x8_extend_high_i8x16(raw_i8x16);
  } else {
    first_i16x8 = wasm_v128_and(raw_i8x16, pinned_i32x4<0x00ff00ff>());
    second_i16x8 = wasm_u16x8_shr(raw_i8x16, 8);
  }
}

// A group's raw quants at 16 bits, 8 to a vector, in kOrder.
template <PackedFormat F>
inline void widened(const typename F::Block& block, size_t group, v128_t (&w_i16x8)[2 * kVectors<F>]) {
  if constexpr (requires { F::raw_i16x8(block, group, w_i16x8); }) {
    F::raw_i16x8(block, group, w_i16x8);
  } else {
    v128_t raw[kVectors<F>];
    F::raw(block, group, raw);
    unrolled<kVectors<F>>(
        [&]<size_t i>() ID2VEC_INLINE { widen<kOrder<F>>(raw[i], w_i16x8[2 * i], w_i16x8[2 * i + 1]); });
  }
}

}  // namespace id2vec::v128

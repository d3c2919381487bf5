// Rows of the affine integer formats to floats, 16 weights at a time, bit-exact with value().
//
// Fields of 2, 3, 4 and 6 bits are unpacked in one way: the two bytes around each field go to a lane of 16 bits, a
// product moves the field to the lane's upper end, a shift moves it down.
#pragma once

#include "kernels/decode.h"
#include "kernels/v128_float.h"

namespace id2vec::v128 {

// Where fields 8 · half … 8 · half + 7 of a stream lie in its bytes.
template <uint32_t kBits>
struct Fields {
  uint8_t bytes[16];    // for a swizzle: the byte in which field i begins and the one after it
  uint16_t factors[8];  // 2^(16 − kBits − the bit at which the field begins)

  constexpr explicit Fields(uint32_t half) : bytes(), factors() {
    for (uint32_t i = 0; i < 8; ++i) {
      const uint32_t position = (8 * half + i) * kBits;
      bytes[2 * i] = uint8_t(position / 8);
      bytes[2 * i + 1] = uint8_t(position / 8 + 1);
      factors[i] = uint16_t(1u << (16 - kBits - position % 8));
    }
  }
};

template <uint32_t kBits>
v128_t fields_u16x8(v128_t stream, const Fields<kBits>& fields) {
  const v128_t around = wasm_i8x16_swizzle(stream, wasm_v128_load(fields.bytes));
  return wasm_u16x8_shr(wasm_i16x8_mul(around, wasm_v128_load(fields.factors)), 16 - kBits);
}

// 16 fields as bytes. Reads the 2 · kBits bytes that hold them and no more.
template <uint32_t kBits>
v128_t load_fields_u8x16(const uint8_t* from) {
  if constexpr (kBits == 8) {
    return wasm_v128_load(from);
  } else {
    v128_t stream = wasm_i32x4_splat(0);
    if constexpr (kBits == 4) stream = wasm_v128_load64_zero(from);
    if constexpr (kBits == 2) stream = wasm_v128_load32_zero(from);
    if constexpr (kBits == 3) stream = wasm_v128_load16_lane(from + 4, wasm_v128_load32_zero(from), 2);
    if constexpr (kBits == 6) stream = wasm_v128_load32_lane(from + 8, wasm_v128_load64_zero(from), 2);
    static constexpr Fields<kBits> kFirst(0), kLast(1);
    return wasm_u8x16_narrow_i16x8(fields_u16x8(stream, kFirst), fields_u16x8(stream, kLast));
  }
}

// A group's numbers in every lane, and what makes a field a quant: (field ^ flip) − half.
template <PlanarFormat F>
struct PlanarGroup {
  v128_t scale, zero, bias, flip, half;

  PlanarGroup(const AffineRow& row, size_t index) {
    const AffineGroup group = F::group(row, index);
    scale = wasm_f32x4_splat(group.scale);
    zero = wasm_f32x4_splat(group.zero);
    bias = wasm_f32x4_splat(group.bias);
    flip = wasm_i8x16_splat(row.spec->is_signed ? int8_t(F::kHalf) : int8_t(0));
    half = wasm_i8x16_splat(int8_t(F::kHalf));
  }

  void store4(v128_t q_i32x4, float* out) const {
    const v128_t sum = wasm_f32x4_add(wasm_f32x4_convert_i32x4(q_i32x4), zero);
    wasm_v128_store(out, wasm_f32x4_add(wasm_f32x4_mul(scale, sum), bias));
  }

  void store16(v128_t field_u8x16, float* out) const {
    const v128_t q_i8x16 = wasm_i8x16_sub(wasm_v128_xor(field_u8x16, flip), half);
    const v128_t low = wasm_i16x8_extend_low_i8x16(q_i8x16), high = wasm_i16x8_extend_high_i8x16(q_i8x16);
    store4(wasm_i32x4_extend_low_i16x8(low), out);
    store4(wasm_i32x4_extend_high_i16x8(low), out + 4);
    store4(wasm_i32x4_extend_low_i16x8(high), out + 8);
    store4(wasm_i32x4_extend_high_i16x8(high), out + 12);
  }
};

// A Decode. Groups begin at multiples of 16 (the table sees to it), so 16 weights from such a place share a scale.
template <PlanarFormat F>
[[gnu::noinline]] void decode_planar(const TableView& table, uint64_t row, uint32_t first, uint32_t count,
                                     float* out) {
  const AffineRow planes = affine_row(table, row);
  const uint32_t group_size = table.affine.group_size, end = first + count;
  uint32_t i = first;
  while (i + 16 <= end) {
    const uint32_t index = i / group_size;
    const PlanarGroup<F> group(planes, index);
    const uint64_t group_end = (uint64_t(index) + 1) * group_size;
    for (; i + 16 <= end && i < group_end; i += 16, out += 16) {
      group.store16(load_fields_u8x16<F::kBits>(planes.quants + size_t(i) * F::kBits / 8), out);
    }
  }
  for (; i < end; ++i) *out++ = F::value(planes, i);
}

}  // namespace id2vec::v128

// Rows to floats, bit-exact with value(): integers to floats, one product, and (where the format has an offset) one
// sum. Nothing is fused here: a fused multiply-add rounds once where the definition rounds twice.
#pragma once

#include <bit>

#include "core/bytes.h"
#include "kernels/decode.h"
#include "kernels/v128_float.h"
#include "kernels/v128_packed.h"

namespace id2vec::v128 {

// 16 weights.
template <PackedFormat F>
inline void store_weights(v128_t raw_i8x16, v128_t scale, v128_t offset, float* out) {
  v128_t q_i8x16 = raw_i8x16;
  if constexpr (F::kZero != 0) q_i8x16 = wasm_i8x16_sub(q_i8x16, pinned_i32x4<F::kZero * 0x01010101u>());
  const v128_t low = wasm_i16x8_extend_low_i8x16(q_i8x16), high = wasm_i16x8_extend_high_i8x16(q_i8x16);
  const v128_t q_i32x4[4] = {wasm_i32x4_extend_low_i16x8(low), wasm_i32x4_extend_high_i16x8(low),
                             wasm_i32x4_extend_low_i16x8(high), wasm_i32x4_extend_high_i16x8(high)};
  for (size_t i = 0; i < 4; ++i) {
    v128_t weights = wasm_f32x4_mul(scale, wasm_f32x4_convert_i32x4(q_i32x4[i]));
    if constexpr (F::kHasOffset) weights = wasm_f32x4_add(weights, offset);
    wasm_v128_store(out + 4 * i, weights);
  }
}

template <PackedFormat F>
void unpack_row(const typename F::Block* blocks, uint32_t cols, float* out) {
  for (uint32_t b = 0; b < cols / F::kBlockSize; ++b) {
    for (size_t group = 0; group < kGroups<F>; ++group) {
      v128_t raw[kVectors<F>];
      F::raw(blocks[b], group, raw);
      const Affine affine = F::affine(blocks[b], group);
      for (const v128_t& raw_i8x16 : raw) {
        store_weights<F>(raw_i8x16, wasm_f32x4_splat(affine.scale), wasm_f32x4_splat(affine.offset), out);
        out += 16;
      }
    }
  }
}

template <FloatFormat F>
void unpack_row(const typename F::Block* blocks, uint32_t cols, float* out) {
  uint32_t i = 0;
  for (; i + 8 <= cols; i += 8) {
    v128_t w_f32x4[2];
    F::load8(blocks + i, w_f32x4);
    wasm_v128_store(out + i, w_f32x4[0]);
    wasm_v128_store(out + i + 4, w_f32x4[1]);
  }
  for (; i < cols; ++i) out[i] = F::value(blocks[i], 0);
}

// Reads one word of every cache line of a row, so that its misses are served together, while the row before is still
// being unpacked. The sum of the words goes to `out`, where the row will be written anyway: reads without a use would
// be left out by the compiler.
inline void touch(const void* row, size_t row_bytes, float* out) {
  const uint8_t* bytes = static_cast<const uint8_t*>(row);
  uint32_t sum = 0;
  for (size_t i = 0; i + sizeof sum <= row_bytes; i += 64) sum += load_le<uint32_t>(bytes + i);
  *static_cast<volatile float*>(out) = std::bit_cast<float>(sum);
}

template <class F>
void gather_unpacked(const TableView& table, const uint32_t* ids, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i, out += table.cols) {
    if (i + 1 < count) touch(row_blocks<F>(table, ids[i + 1]), table.planes[0].row_bytes, out);
    unpack_row<F>(row_blocks<F>(table, ids[i]), table.cols, out);
  }
}

}  // namespace id2vec::v128

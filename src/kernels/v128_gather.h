// Rows to floats, bit-exact with value(): integers to floats, one product, and (where the format has an offset) one
// sum. Nothing is fused here: a fused multiply-add rounds once where the definition rounds twice.
#pragma once

#include <algorithm>
#include <bit>

#include "core/bytes.h"
#include "kernels/decode.h"
#include "kernels/v128_float.h"
#include "kernels/v128_packed.h"
#include "kernels/v128_stretch.h"

namespace id2vec::v128 {

// 16 weights.
template <PackedFormat F, int32_t kZero = F::kZero>
inline void store_weights(v128_t raw_i8x16, v128_t scale, v128_t offset, float* out) {
  const v128_t q_i8x16 = minus_zero<kZero>(raw_i8x16);
  const v128_t low = wasm_i16x8_extend_low_i8x16(q_i8x16), high = wasm_i16x8_extend_high_i8x16(q_i8x16);
  const v128_t q_i32x4[4] = {wasm_i32x4_extend_low_i16x8(low), wasm_i32x4_extend_high_i16x8(low),
                             wasm_i32x4_extend_low_i16x8(high), wasm_i32x4_extend_high_i16x8(high)};
  for (size_t i = 0; i < 4; ++i) {
    v128_t weights = wasm_f32x4_mul(scale, wasm_f32x4_convert_i32x4(q_i32x4[i]));
    if constexpr (F::kHasOffset) weights = wasm_f32x4_add(weights, offset);
    wasm_v128_store(out + 4 * i, weights);
  }
}

// A Decode.
template <PackedFormat F>
void decode_packed(const TableView& table, uint64_t row, uint32_t first, uint32_t count, float* out) {
  const typename F::Block* block = row_blocks<F>(table, row) + first / F::kBlockSize;
  for (const float* end = out + count; out != end; ++block) {
    if constexpr (kGroups<F> == 1) {
      v128_t raw[kVectors<F>];
      F::raw(*block, 0, raw);
      const Affine affine = F::affine(*block, 0);
      for (const v128_t& raw_i8x16 : raw) {
        store_weights<F>(raw_i8x16, wasm_f32x4_splat(affine.scale), wasm_f32x4_splat(affine.offset), out);
        out += 16;
      }
    } else {
      // What dot products of four rows need serves here, too: of four times the same block all lanes are alike.
      alignas(16) uint8_t raw[F::kBlockSize];
      load_raw<F>(*block, raw);
      const BlockScales<F> of({block, block, block, block});
#pragma clang loop unroll(disable)
      for (size_t i = 0; i < F::kBlockSize; i += 16, out += 16) {
        const size_t group = i / F::kGroupSize;
        store_weights<F, kStretchZero<F>>(wasm_v128_load(raw + i), of.scale[group], of.offset[group], out);
      }
    }
  }
}

// Reads one word of every cache line of some rows that will be unpacked soon. A processor has no more than a few hundred
// instructions under way and waits for memory in their order, so misses are served together only where they stand side
// by side, in a loop that does little else. The sum of the words goes to `out`, where a row will be written anyway: reads
// without a use would be left out by the compiler.
inline void touch(const TableView& table, const uint32_t* ids, size_t count, float* out) {
  constexpr ptrdiff_t kLine = 64, kLines = 4;
  const Plane& plane = table.planes[0];
  uint32_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* bytes = plane.data + ids[i] * plane.row_bytes;
    const uint8_t* const end = bytes + plane.row_bytes;
#pragma clang loop vectorize(disable) unroll(disable)
    for (; end - bytes >= kLines * kLine; bytes += kLines * kLine) {
      for (size_t k = 0; k < kLines; ++k) sum += load_le<uint32_t>(bytes + k * kLine);
    }
#pragma clang loop vectorize(disable) unroll(disable)
    for (; end - bytes >= ptrdiff_t(sizeof sum); bytes += kLine) sum += load_le<uint32_t>(bytes);
  }
  *static_cast<volatile float*>(out) = std::bit_cast<float>(sum);
}

// Some rows are touched, then unpacked, while they are in the first-level cache.
inline void gather_touching(const FormatKernels& format, const TableView& table, const uint32_t* ids,
                            size_t count, float* out) {
  constexpr size_t kRows = 8, kBytes = 16 * 1024;
  const size_t step = std::clamp<size_t>(kBytes / table.planes[0].row_bytes, 1, kRows);
  for (size_t i = 0; i < count; ++i, out += table.cols) {
    if (i % step == 0) touch(table, ids + i, std::min(step, count - i), out);
    format.decode(table, ids[i], 0, table.cols, out);
  }
}

// Rows of floats are so long that reading them is what a lookup waits for. Four take turns, one cache line each: their
// misses are served together, and each row is a stream of its own for the hardware prefetcher.
template <FloatFormat F>
void gather_floats(const FormatKernels&, const TableView& table, const uint32_t* ids, size_t count,
                   float* out) {
  constexpr uint32_t kTurn = 64 / sizeof(typename F::Block);  // numbers in a cache line
  for (size_t i = 0; i < count; i += 4, out += 4 * size_t(table.cols)) {
    const size_t n_rows = std::min<size_t>(count - i, 4);
    for (uint32_t first = 0; first < table.cols; first += kTurn) {
      const uint32_t length = std::min(kTurn, table.cols - first);
      for (size_t r = 0; r < n_rows; ++r) {
        unpack_floats<F>(row_blocks<F>(table, ids[i + r]) + first, length, out + r * table.cols + first);
      }
    }
  }
}

}  // namespace id2vec::v128

// The list, and the encoders that need no search: the scale follows from the extremes of a block.
#include "tools/encoders.h"

#include <cstring>

#include "core/half.h"
#include "formats/formats.h"
#include "tools/rounding.h"

namespace id2vec {
namespace {

constexpr Encoder kEncoders[] = {
    {"F32", encode_f32},   {"F16", encode_f16},   {"BF16", encode_bf16},     {"Q8_0", encode_q8_0},
    {"Q6_K", encode_q6_k}, {"Q5_1", encode_q5_1}, {"Q5_0", encode_q5_0},     {"Q4_K", encode_q4_k},
    {"Q4_1", encode_q4_1}, {"Q4_0", encode_q4_0}, {"IQ4_NL", encode_iq4_nl}, {"AFFINE_8", encode_row_int8},
};

// encode_block(x, block) for every block of the row.
template <class F, class EncodeBlock>
void encode_blocks(const float* row, size_t cols, const RowPlanes& out, EncodeBlock encode_block) {
  for (size_t i = 0; i < cols / F::kBlockSize; ++i) {
    typename F::Block block{};
    encode_block(row + i * F::kBlockSize, block);
    std::memcpy(out[0] + i * sizeof block, &block, sizeof block);
  }
}

struct Range {
  float min, max;
};

Range range_of(const float* x, size_t n) {
  Range range{x[0], x[0]};
  for (size_t i = 1; i < n; ++i) {
    if (x[i] < range.min) range.min = x[i];
    if (x[i] > range.max) range.max = x[i];
  }
  return range;
}

// Sets the 4-bit part of weight i in ggml's order of nibbles.
void set_nibble(uint8_t (&bytes)[16], size_t i, int32_t q) {
  bytes[i % 16] |= uint8_t((q & 15) << (i / 16 * 4));
}

void set_fifth_bit(uint8_t (&bytes)[4], size_t i, int32_t q) {
  bytes[i / 8] |= uint8_t((q >> 4 & 1) << (i % 8));
}

}  // namespace

std::span<const Encoder> encoders() { return kEncoders; }

const Encoder* encoder_for(std::string_view dtype) {
  for (const Encoder& encoder : kEncoders) {
    if (encoder.dtype == dtype) return &encoder;
  }
  return nullptr;
}

void encode_f32(const float* row, size_t cols, const RowPlanes& out) {
  std::memcpy(out[0], row, cols * sizeof(float));
}

void encode_f16(const float* row, size_t cols, const RowPlanes& out) {
  encode_blocks<F16>(row, cols, out,
                     [](const float* x, F16::Block& block) { block.bits = float_to_f16(*x); });
}

void encode_bf16(const float* row, size_t cols, const RowPlanes& out) {
  encode_blocks<BF16>(row, cols, out,
                      [](const float* x, BF16::Block& block) { block.bits = float_to_bf16(*x); });
}

// scale = max |x| / 127; q = x / scale, ties away from zero.
void encode_q8_0(const float* row, size_t cols, const RowPlanes& out) {
  encode_blocks<Q8_0>(row, cols, out, [](const float* x, Q8_0::Block& block) {
    const float scale = std::fabs(extreme(x, 32)) / 127;
    const float factor = inverse(scale);
    block.scale = float_to_f16(scale);
    for (size_t i = 0; i < 32; ++i) block.q[i] = int8_t(truncate(std::round(x[i] * factor)));
  });
}

// The extreme weight becomes −8, which the range −8 … 7 holds exactly. Adding 8.5 and cutting rounds.
void encode_q4_0(const float* row, size_t cols, const RowPlanes& out) {
  encode_blocks<Q4_0>(row, cols, out, [](const float* x, Q4_0::Block& block) {
    const float scale = extreme(x, 32) / -8;
    const float factor = inverse(scale);
    block.scale = float_to_f16(scale);
    for (size_t i = 0; i < 32; ++i) set_nibble(block.q, i, std::min(15, truncate(x[i] * factor + 8.5f)));
  });
}

void encode_q4_1(const float* row, size_t cols, const RowPlanes& out) {
  encode_blocks<Q4_1>(row, cols, out, [](const float* x, Q4_1::Block& block) {
    const Range range = range_of(x, 32);
    const float scale = (range.max - range.min) / 15;
    const float factor = inverse(scale);
    block.scale = float_to_f16(scale);
    block.offset = float_to_f16(range.min);
    for (size_t i = 0; i < 32; ++i) {
      set_nibble(block.q, i, std::min(15, truncate((x[i] - range.min) * factor + 0.5f)));
    }
  });
}

void encode_q5_0(const float* row, size_t cols, const RowPlanes& out) {
  encode_blocks<Q5_0>(row, cols, out, [](const float* x, Q5_0::Block& block) {
    const float scale = extreme(x, 32) / -16;
    const float factor = inverse(scale);
    block.scale = float_to_f16(scale);
    for (size_t i = 0; i < 32; ++i) {
      const int32_t q = std::min(31, truncate(x[i] * factor + 16.5f));
      set_nibble(block.low, i, q);
      set_fifth_bit(block.high, i, q);
    }
  });
}

void encode_q5_1(const float* row, size_t cols, const RowPlanes& out) {
  encode_blocks<Q5_1>(row, cols, out, [](const float* x, Q5_1::Block& block) {
    const Range range = range_of(x, 32);
    const float scale = (range.max - range.min) / 31;
    const float factor = inverse(scale);
    block.scale = float_to_f16(scale);
    block.offset = float_to_f16(range.min);
    for (size_t i = 0; i < 32; ++i) {
      const int32_t q = truncate((x[i] - range.min) * factor + 0.5f);
      set_nibble(block.low, i, q);
      set_fifth_bit(block.high, i, q);
    }
  });
}

bool is_row_int8(const TableSpec& spec) {
  const AffineSpec& affine = spec.affine;
  return spec.dtype->block_bytes == 1 && spec.dtype->block_size == 1 && affine.is_signed &&
         affine.group_size >= spec.cols && !affine.per_tensor && affine.offsets == Offsets::kNone &&
         affine.zero_point == 0 && affine.scale_factor == 1 && affine.scale_type == ScaleType::kF32;
}

// scale = max |x| / 127 in float; q = x / scale, ties to even.
void encode_row_int8(const float* row, size_t cols, const RowPlanes& out) {
  const float scale = std::fabs(extreme(row, cols)) / 127;
  const float factor = inverse(scale);
  for (size_t i = 0; i < cols; ++i) out[0][i] = uint8_t(int8_t(nearest(row[i] * factor, -127, 127)));
  store_le(out[1], scale);
}

}  // namespace id2vec

// Encoders: a row of floats → the same row in a format. Bit-identical with ggml's reference quantizer.
//
// An encoder is a pure function over one row. Numbers that are not finite make no sense of a block's scale; the
// block then decodes to something meaningless, but nothing else happens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/affine.h"
#include "table/table.h"

namespace id2vec {

// Where one row goes: plane by plane, as a table holds it. Only AFFINE_8 has more than the first.
using RowPlanes = std::array<uint8_t*, 3>;

struct Encoder {
  std::string_view dtype;
  // row [cols]; cols is a multiple of the format's block size.
  void (*encode)(const float* row, size_t cols, const RowPlanes& out);
};

// What `quantize` offers, in the order in which it should be listed.
std::span<const Encoder> encoders();
const Encoder* encoder_for(std::string_view dtype);  // null where there is none

// The only affine layout that is written: signed bytes, one F32 scale per row of `cols` weights.
constexpr AffineSpec row_int8_spec(uint32_t cols) { return {.group_size = cols, .is_signed = true}; }
// Whether a table has that layout; others (scales of 16 bits, groups, offsets, unsigned) have no encoder.
bool is_row_int8(const TableSpec& spec);

void encode_f32(const float* row, size_t cols, const RowPlanes& out);
void encode_f16(const float* row, size_t cols, const RowPlanes& out);
void encode_bf16(const float* row, size_t cols, const RowPlanes& out);
void encode_q8_0(const float* row, size_t cols, const RowPlanes& out);
void encode_q4_0(const float* row, size_t cols, const RowPlanes& out);
void encode_q4_1(const float* row, size_t cols, const RowPlanes& out);
void encode_q5_0(const float* row, size_t cols, const RowPlanes& out);
void encode_q5_1(const float* row, size_t cols, const RowPlanes& out);
void encode_q4_k(const float* row, size_t cols, const RowPlanes& out);
void encode_q6_k(const float* row, size_t cols, const RowPlanes& out);
void encode_iq4_nl(const float* row, size_t cols, const RowPlanes& out);
void encode_row_int8(const float* row, size_t cols, const RowPlanes& out);

}  // namespace id2vec

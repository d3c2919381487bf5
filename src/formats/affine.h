// Integers of 2, 3, 4, 6 or 8 bits whose scales and offsets lie apart, in arrays ("planes") of their own:
//
//   weight[i] = scale[g] · (q[i] − zero_point[g]) + bias[g]        g = i / group_size
//
// The quants of a row are one stream of bits, low bits first, rows padded to whole bytes. That is what MLX
// (32-bit words, low bits first) and ONNX Runtime (consecutive nibbles, low one first) store. What differs is
// the rest:
//
//   made by                        bits       scales               group        offsets
//   MLX                            2 3 4 6 8  F16 BF16 F32         32 64 128    biases, typed as the scales
//   ORT GatherBlockQuantized,      2 4 8      F32 F16              16 … 256     zero points, packed as the
//   quants, or
//     MatMulNBits                                                               none: then it is 2^(bits − 1)
//   torchao, own `quantize`        8 signed   F32 F16 BF16         a row        none
//   bitsandbytes (LLM.int8)        8 signed   F32, ÷ 127           a row        none
//   ONNX QuantizeLinear            8          F32                  the tensor   one zero point
#pragma once

#include "core/bytes.h"
#include "core/half.h"
#include "formats/format.h"

namespace id2vec {

enum class ScaleType : uint8_t { kF32, kF16, kBF16 };

enum class Offsets : uint8_t {
  kNone,        // AffineSpec::zero_point holds for every group
  kZeroPoints,  // plane 2: integers of the quants' width and signedness, a bit stream per row
  kBiases,      // plane 2: floats of the scales' type; AffineSpec::zero_point applies as well
};

struct AffineSpec {
  uint32_t group_size = 0;  // weights per scale; ≥ d: one scale per row. 0: not an affine format
  ScaleType scale_type = ScaleType::kF32;
  Offsets offsets = Offsets::kNone;
  bool is_signed = false;  // quants and zero points are two's complement
  bool per_tensor =
      false;               // every row has the scales and offsets of row 0, and the planes hold only that row
  int32_t zero_point = 0;
  float scale_factor = 1;  // multiplied onto every scale: 1/127 where row maxima are stored instead

  bool operator==(const AffineSpec&) const = default;
};

// One row of a table in such a format.
struct AffineRow {
  const uint8_t* quants = nullptr;
  const uint8_t* scales = nullptr;
  const uint8_t* offsets = nullptr;
  const AffineSpec* spec = nullptr;
};

// weight = scale · (q + zero) + bias, with a q that was shifted into −2^(bits−1) … 2^(bits−1) − 1. Both
// numbers in the parentheses are small integers: their sum is exact. Without biases `bias` is −0, which
// changes no sum.
struct AffineGroup {
  float scale = 0;
  float zero = 0;
  float bias = -0.0f;
};

constexpr size_t scale_bytes(ScaleType type) { return type == ScaleType::kF32 ? 4 : 2; }

inline float load_scale(ScaleType type, const uint8_t* scales, size_t index) {
  switch (type) {
    case ScaleType::kF16: return f16_to_float(load_le<uint16_t>(scales + index * 2));
    case ScaleType::kBF16: return bf16_to_float(load_le<uint16_t>(scales + index * 2));
    case ScaleType::kF32: break;
  }
  return load_le<float>(scales + index * 4);
}

// Element `index` of a stream of integers of `bits` bits each. Reads no byte that holds none of its bits.
inline uint32_t load_bits(const uint8_t* stream, size_t index, uint32_t bits) {
  const size_t position = index * bits;
  const uint8_t* byte = stream + position / 8;
  const uint32_t shift = position % 8;
  uint32_t window = byte[0];
  if (shift + bits > 8) window |= uint32_t(byte[1]) << 8;
  return window >> shift & ((1u << bits) - 1);
}

// Bytes per row of the three planes, for rows of `cols` weights.
struct AffineRowBytes {
  size_t quants, scales, offsets;
};

constexpr AffineRowBytes affine_row_bytes(const AffineSpec& spec, uint32_t bits, size_t cols) {
  const size_t groups = (cols + spec.group_size - 1) / spec.group_size;
  const size_t floats = groups * scale_bytes(spec.scale_type);
  const size_t zero_points = (groups * bits + 7) / 8;
  return {(cols * bits + 7) / 8, floats,
          spec.offsets == Offsets::kNone     ? 0
          : spec.offsets == Offsets::kBiases ? floats
                                             : zero_points};
}

// A format whose rows are AffineRows instead of blocks; otherwise as Format and GroupFormat.
template <class F>
concept PlanarFormat = requires(const AffineRow& row, size_t index) {
  { F::kName } -> std::convertible_to<std::string_view>;
  { F::kBits } -> std::convertible_to<uint32_t>;
  { F::kBlockSize } -> std::convertible_to<size_t>;
  { F::quant(row, index) } -> std::same_as<int32_t>;
  { F::group(row, index) } -> std::same_as<AffineGroup>;
  { F::value(row, index) } -> std::same_as<float>;
  typename F::Block;
};

template <uint32_t kWidth, size_t kWeights, size_t kBytes>
struct AffineBits {
  static_assert(kWidth * kWeights == 8 * kBytes);
  static constexpr uint32_t kBits = kWidth;
  static constexpr char kDigit[] = {'A', 'F', 'F', 'I', 'N', 'E', '_', char('0' + kWidth)};
  static constexpr std::string_view kName{kDigit, sizeof kDigit};
  static constexpr int32_t kGgmlType = -1;
  static constexpr size_t kBlockSize = kWeights;  // the fewest weights that fill whole bytes
  struct Block {
    uint8_t bytes[kBytes];
  };
  static_assert(sizeof(Block) == kBytes);
  static constexpr int32_t kHalf = 1 << (kWidth - 1);

  // −2^(bits−1) … 2^(bits−1) − 1 for signed and unsigned quants alike.
  static int32_t quant(const AffineRow& row, size_t i) { return centered(row, row.quants, i); }

  static AffineGroup group(const AffineRow& row, size_t index) {
    const AffineSpec& spec = *row.spec;
    AffineGroup group;
    group.scale = load_scale(spec.scale_type, row.scales, index) * spec.scale_factor;
    if (spec.offsets == Offsets::kZeroPoints) {
      group.zero = float(-centered(row, row.offsets, index));
    } else {
      group.zero = float((spec.is_signed ? 0 : kHalf) - spec.zero_point);
    }
    if (spec.offsets == Offsets::kBiases) group.bias = load_scale(spec.scale_type, row.offsets, index);
    return group;
  }

  static float value(const AffineRow& row, size_t i) {
    const AffineGroup affine = group(row, i / row.spec->group_size);
    const float product = affine.scale * (float(quant(row, i)) + affine.zero);
    return product + affine.bias;
  }

 private:
  static int32_t centered(const AffineRow& row, const uint8_t* stream, size_t index) {
    const uint32_t flip = row.spec->is_signed ? kHalf : 0;  // maps two's complement onto the unsigned order
    return int32_t(load_bits(stream, index, kWidth) ^ flip) - kHalf;
  }
};

using Affine2 = AffineBits<2, 4, 1>;
using Affine3 = AffineBits<3, 8, 3>;
using Affine4 = AffineBits<4, 2, 1>;
using Affine6 = AffineBits<6, 4, 3>;
using Affine8 = AffineBits<8, 1, 1>;
static_assert(PlanarFormat<Affine2> && PlanarFormat<Affine3> && PlanarFormat<Affine4> &&
              PlanarFormat<Affine6> && PlanarFormat<Affine8>);

}  // namespace id2vec

// The kernels over 128-bit vectors, for any instruction set that has them. An instruction set is a struct with
//
//   madd(a, b, c)         a · b + c in four floats, in one rounding or two
//   kDotI7                whether it has …
//   dot_i16x8(a, b)       … Σ of two products of int8 a and b in 0 … 127 per lane
//
// and a format joins in one of four ways, from fast to small:
//
//   PackedFormat          brings its quants as bytes (v128_packed.h): dot products in integers
//   FloatFormat           brings eight floats at a time (v128_float.h)
//   PlanarFormat          is unpacked to floats, piece by piece (v128_planar.h)
//   any other             is decoded through its value(), piece by piece
#pragma once

#include "formats/formats.h"
#include "kernels/v128_float.h"
#include "kernels/v128_gather.h"
#include "kernels/v128_planar.h"
#include "kernels/v128_single.h"
#include "kernels/v128_tiles.h"

namespace id2vec::v128 {

// Formats that become floats first.
template <class Isa>
constexpr FloatCode kDecodedCode{dot_one_decoded<Isa>, dot_quads_decoded<Isa>};
// F16 is decoded once for all vectors.
template <class F>
constexpr bool kCostlyToLoad = std::is_same_v<F, F16>;
template <class Isa, FloatFormat F>
constexpr FloatCode kFloatCode{dot_one_float<Isa, F>,
                               kCostlyToLoad<F> ? dot_quads_decoded<Isa> : dot_quads_float<Isa, F>};

template <class Isa, class F>
constexpr FormatKernels kKernels{gather_decoded,  no_scratch,       no_preparation,
                                 dot_floats<Isa>, decode_values<F>, &kDecodedCode<Isa>};

template <class Isa, PlanarFormat F>
constexpr FormatKernels kKernels<Isa, F>{gather_touching, no_scratch,       no_preparation,
                                         dot_floats<Isa>, decode_planar<F>, &kDecodedCode<Isa>};

template <class Isa, FloatFormat F>
constexpr FormatKernels kKernels<Isa, F>{kCostlyToLoad<F> ? gather_touching : gather_floats<F>,
                                         no_scratch,
                                         no_preparation,
                                         dot_floats<Isa>,
                                         kCostlyToLoad<F> ? decode_floats<F> : nullptr,
                                         &kFloatCode<Isa, F>};

template <class Isa, PackedFormat F>
constexpr DotOne one_of() {
  if constexpr (kRare<F>) {
    return dot_one_unpacked<Isa>;
  } else {
    return dot_one<Isa, F>;
  }
}

template <class Isa, PackedFormat F>
constexpr Packing kPacking{
    load_stretch<F>, one_of<Isa, F>(),
    F::kGroupSize,   kStretchZero<F>,
    F::kHasOffset,   {method_of<Isa, F>(Precision::kHigh), method_of<Isa, F>(Precision::kFast)}};

// visit(first, layout, at) for the tiles of `count` vectors: which vector is its first, and where it lies in the scratch.
// Returns where the last ends.
template <class Visit>
size_t for_each_tile(const FormatKernels& format, const TableView& table, size_t count, Precision precision,
                     Visit&& visit) {
  size_t at = 0;
  for (size_t first = 0; first < count; first += kMaxTile) {
    const TileLayout layout = packing_of(format).layout(table.cols, count - first, precision);
    visit(first, layout, at);
    at += layout.bytes();
  }
  return at;
}

inline size_t packed_scratch_bytes(const FormatKernels& format, const TableView& table, size_t count,
                                   Precision precision) {
  return for_each_tile(format, table, count, precision, [](size_t, const TileLayout&, size_t) {});
}

inline void prepare_packed(const FormatKernels& format, const TableView& table, const float* hidden,
                           size_t count, Precision precision, uint8_t* scratch) {
  const Packing& packing = packing_of(format);
  for_each_tile(format, table, count, precision, [&](size_t first, const TileLayout& layout, size_t at) {
    prepare_tile(layout, table.cols, packing.group_size, packing.zero, hidden + first * table.cols,
                 count - first, scratch + at);
  });
}

template <class Isa>
void dot_packed(const FormatKernels& format, const TableView& table, const RowSet& rows,
                const Activations& activations, Precision precision, float* out, size_t stride) {
  const Packing& packing = packing_of(format);
  const Method& method = packing.method(precision);
  for_each_tile(
      format, table, activations.count, precision, [&](size_t first, const TileLayout& layout, size_t at) {
        const uint8_t* tile = activations.scratch + at;
        if (layout.vectors == 1) {
          packing.dot_one(packing, table, rows, layout, tile, out + first * stride);
          return;
        }
        const AddRows add = layout.vectors == kQuad ? method.add_one_quad : method.add_two_quads;
        const size_t vectors = std::min(activations.count - first, layout.vectors);
        dot_tile<Isa>({packing, layout, tile, add}, table, rows, vectors, out + first * stride, stride);
      });
}

template <class Isa, PackedFormat F>
constexpr FormatKernels kKernels<Isa, F>{gather_touching, packed_scratch_bytes, prepare_packed,
                                         dot_packed<Isa>, decode_packed<F>,     &kPacking<Isa, F>};

template <class Isa, class... F>
constexpr std::array<FormatKernels, sizeof...(F)> kernels_of(FormatList<F...>) {
  return {kKernels<Isa, F>...};
}

}  // namespace id2vec::v128

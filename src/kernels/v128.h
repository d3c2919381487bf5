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
#include "kernels/v128_dot.h"
#include "kernels/v128_float.h"
#include "kernels/v128_gather.h"
#include "kernels/v128_planar.h"

namespace id2vec::v128 {

template <class Isa, class F>
struct Kernels {
  static void gather(const TableView& table, const uint32_t* ids, size_t count, float* out) {
    gather_with(decode_values<F>, table, ids, count, out);
  }
  static void dot(const TableView& table, const RowSet& rows, const Activations& activations, Precision,
                  float* out, size_t stride) {
    dot_decoded<Isa>(decode_values<F>, table, rows, activations, out, stride);
  }
  static constexpr FormatKernels kKernels{gather, no_scratch, no_preparation, dot};
};

template <class Isa, FloatFormat F>
struct Kernels<Isa, F> {
  static constexpr FormatKernels kKernels{gather_unpacked<F>, no_scratch, no_preparation, dot_floats<Isa, F>};
};

template <class Isa, PlanarFormat F>
struct Kernels<Isa, F> {
  static void gather(const TableView& table, const uint32_t* ids, size_t count, float* out) {
    gather_with(decode_planar<F>, table, ids, count, out);
  }
  static void dot(const TableView& table, const RowSet& rows, const Activations& activations, Precision,
                  float* out, size_t stride) {
    dot_decoded<Isa>(decode_planar<F>, table, rows, activations, out, stride);
  }
  static constexpr FormatKernels kKernels{gather, no_scratch, no_preparation, dot};
};

template <class Isa, PackedFormat F>
struct Kernels<Isa, F> {
  // Calls body(Encoding) with the encoding of activations that a precision means for this format.
  template <class Body>
  static auto with_encoding(Precision precision, Body&& body) {
    if constexpr (Isa::kDotI7 && kSixBits<F>) {
      if (precision == Precision::kFast) return body(Int8{});
    }
    return body(Int16{});
  }
  static size_t scratch_bytes(const TableView& table, size_t count, Precision precision) {
    return with_encoding(precision, [&]<class Encoding>(Encoding) {
      return v128::scratch_bytes<ShapeOf<F, Encoding>>(table.cols, count);
    });
  }
  static void prepare(const TableView& table, const float* hidden, size_t count, Precision precision,
                      uint8_t* scratch) {
    with_encoding(precision, [&]<class Encoding>(Encoding) {
      v128::prepare<ShapeOf<F, Encoding>>(table.cols, hidden, count, scratch);
    });
  }
  static void dot(const TableView& table, const RowSet& rows, const Activations& activations,
                  Precision precision, float* out, size_t stride) {
    with_encoding(precision, [&]<class Encoding>(Encoding) {
      dot_rows<Isa, F, ShapeOf<F, Encoding>>(table, rows, activations, out, stride);
    });
  }
  static constexpr FormatKernels kKernels{gather_unpacked<F>, scratch_bytes, prepare, dot};
};

template <class Isa, class... F>
constexpr std::array<FormatKernels, sizeof...(F)> kernels_of(FormatList<F...>) {
  return {Kernels<Isa, F>::kKernels...};
}

}  // namespace id2vec::v128

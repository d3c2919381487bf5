// What a kernel is: a pure function over pointers and counts. Kernels do not allocate, check arguments, hold
// state or start threads; src/table checks and owns. Every instruction set fills one table with the same
// functions for every format of the list, and the scalar table is the definition the others are tested against.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/affine.h"

namespace id2vec {

// Where a table's bytes lie. A ggml-style format has its scales inside its blocks and uses plane 0 alone; an
// affine integer format keeps quants, scales and offsets (zero points or biases) as the file has them: apart.
// Rows are aligned as their blocks are: data and row_bytes are multiples of alignof(Block).
struct Plane {
  const uint8_t* data = nullptr;
  size_t row_bytes = 0;  // 0: all rows share the first (AffineSpec::per_tensor)
  size_t bytes = 0;      // of the whole plane
};

struct TableView {
  uint64_t rows = 0;              // V
  uint32_t cols = 0;              // d
  std::array<Plane, 3> planes{};  // quants (or whole blocks), scales, offsets
  AffineSpec affine{};            // affine formats: what the planes hold
};

// Which rows a call of dot() is about: rows ids[i], or first + i where there are no ids.
struct RowSet {
  uint64_t first = 0;
  size_t count = 0;
  const uint32_t* ids = nullptr;

  uint64_t operator[](size_t i) const { return ids != nullptr ? ids[i] : first + i; }
  RowSet slice(size_t from, size_t n) const {
    return {first + from, n, ids != nullptr ? ids + from : nullptr};
  }
};

// N hidden vectors prepared for one call of logits: in float, and (for integer kernels) quantized once per group
// to int16 or int8. The scratch is filled by prepare() and lives in memory of the caller.
struct Activations {
  const float* hidden = nullptr;     // [N, d]
  size_t count = 0;                  // N
  const uint8_t* scratch = nullptr;  // layout private to the kernels of one instruction set and format
};

// kHigh keeps activations in float or at 16 bits per group, kFast at 8 bits where that is faster.
enum class Precision : uint8_t { kHigh, kFast };

// out[0 … count) = weights first … first + count of a row. Both numbers are multiples of the block size.
using Decode = void (*)(const TableView& table, uint64_t row, uint32_t first, uint32_t count, float* out);

// What an instruction set does with a format. Code that serves many formats is one function, told by its first
// argument which of them it is about.
struct FormatKernels {
  using Gather = void (*)(const FormatKernels& format, const TableView& table, const uint32_t* ids,
                          size_t count, float* out);
  using ScratchBytes = size_t (*)(const FormatKernels& format, const TableView& table, size_t count,
                                  Precision precision);
  using Prepare = void (*)(const FormatKernels& format, const TableView& table, const float* hidden,
                           size_t count, Precision precision, uint8_t* scratch);
  using Dot = void (*)(const FormatKernels& format, const TableView& table, const RowSet& rows,
                       const Activations& activations, Precision precision, float* out, size_t stride);

  Gather gather_with = nullptr;
  ScratchBytes scratch_bytes_with = nullptr;
  Prepare prepare_with = nullptr;
  Dot dot_with = nullptr;
  Decode decode = nullptr;        // where rows are decoded to floats first
  const void* details = nullptr;  // private to the kernels of one instruction set

  // out[i·d … ] = dequantized row ids[i], for i < count. Bit-exact with the format's value().
  void gather(const TableView& table, const uint32_t* ids, size_t count, float* out) const {
    gather_with(*this, table, ids, count, out);
  }
  // Bytes of scratch that prepare() fills for `count` vectors; 0 where none is needed.
  size_t scratch_bytes(const TableView& table, size_t count, Precision precision) const {
    return scratch_bytes_with(*this, table, count, precision);
  }
  // scratch: 64-byte aligned.
  void prepare(const TableView& table, const float* hidden, size_t count, Precision precision,
               uint8_t* scratch) const {
    prepare_with(*this, table, hidden, count, precision, scratch);
  }
  // out[n·stride + i] = ⟨hidden n, row rows[i]⟩ for n < activations.count, i < rows.count.
  void dot(const TableView& table, const RowSet& rows, const Activations& activations, Precision precision,
           float* out, size_t stride) const {
    dot_with(*this, table, rows, activations, precision, out, stride);
  }
};

struct KernelTable {
  std::string_view isa;          // "scalar", "simd128", "relaxed"
  const FormatKernels* formats;  // one per format, in the order of the list
};

// The instruction sets that this build carries, slowest first; the last is its best. "scalar" is always there.
struct KernelTables {
  const KernelTable* const* begin_;
  const KernelTable* const* end_;
  const KernelTable* const* begin() const { return begin_; }
  const KernelTable* const* end() const { return end_; }
};
KernelTables kernel_tables();
const KernelTable* kernel_table(std::string_view isa);  // "auto" is the best one; null if this build lacks it

}  // namespace id2vec

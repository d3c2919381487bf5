#include "model/convert.h"

#include <algorithm>

#include "formats/mxfp4.h"

namespace id2vec {
namespace {

// The layout seen from the file: the axis with the longer stride is the outer one. Steps are table elements.
struct StoredOrder {
  explicit StoredOrder(const StridedLayout& layout) {
    const bool rows_outside = layout.row_stride >= layout.col_stride;
    outer_stride = rows_outside ? layout.row_stride : layout.col_stride;
    inner_stride = rows_outside ? layout.col_stride : layout.row_stride;
    outer_size = rows_outside ? layout.rows : layout.cols;
    inner_size = rows_outside ? layout.cols : layout.rows;
    outer_step = rows_outside ? layout.cols : 1;
    inner_step = rows_outside ? 1 : layout.cols;
  }
  uint64_t outer_stride, inner_stride, outer_size, inner_size, outer_step, inner_step;
};

// Elements that follow each other in the file and stand at equal distances in the table.
struct Run {
  const uint8_t* stored;
  uint64_t first;  // table element of the first one
  uint64_t step;   // table elements from one to the next
  size_t count;
  size_t skipped;  // bytes of the first element that the chunk does not have
  size_t bytes;    // bytes of each element that it has: fewer than an element's only where count is 1
};

// Calls visit(run) for all that the chunk holds, until that returns false. Gaps between elements are passed over.
template <class Visit>
bool for_each_run(const StridedLayout& layout, uint64_t at, Bytes chunk, Visit visit) {
  const StoredOrder order(layout);
  const size_t element = layout.element_bytes;
  uint64_t outer = at / element / order.outer_stride, rest = at / element % order.outer_stride;
  size_t skipped = at % element;
  while (!chunk.empty() && outer < order.outer_size) {
    const uint64_t inner = rest / order.inner_stride;
    const bool is_gap = rest % order.inner_stride != 0 || inner >= order.inner_size;
    Run run{chunk.data(),     outer * order.outer_step + inner * order.inner_step,
            order.inner_step, 1,
            skipped,          std::min(element - skipped, chunk.size())};
    if (run.bytes == element && order.inner_stride == 1 && !is_gap) {
      run.count = std::min<uint64_t>(order.inner_size - inner, chunk.size() / element);
    }
    if (!is_gap && !visit(run)) return false;
    chunk = chunk.subspan(run.count * run.bytes);
    skipped = 0;
    rest += run.count;
    if (rest == order.outer_stride) rest = 0, ++outer;
  }
  return true;
}

// Calls visit(table byte, stored byte) for every byte of a run, until that returns false. A constant element size
// lets the compiler turn the inner loop into one load and one store.
template <size_t kElement, bool kSwap, class Visit>
bool for_each_byte(const Run& run, uint8_t* table, Visit visit) {
  const uint8_t* from = run.stored;
  uint8_t* to = table + run.first * kElement;
  const size_t bytes = run.count > 1 ? kElement : run.bytes;
  for (size_t i = 0; i < run.count; ++i, from += kElement, to += run.step * kElement) {
    for (size_t b = 0; b < bytes; ++b) {
      const size_t place = run.skipped + b;
      if (!visit(to[kSwap ? kElement - 1 - place : place], from[b])) return false;
    }
  }
  return true;
}

template <size_t kElement, class Visit>
bool for_each_byte(const StridedLayout& layout, const Run& run, uint8_t* table, Visit visit) {
  return layout.swap_bytes ? for_each_byte<kElement, true>(run, table, visit)
                           : for_each_byte<kElement, false>(run, table, visit);
}

template <class Visit>
bool for_each_byte(const StridedLayout& layout, uint64_t at, Bytes chunk, uint8_t* table, Visit visit) {
  return for_each_run(layout, at, chunk, [&](const Run& run) {
    switch (layout.element_bytes) {
      case 1: return for_each_byte<1>(layout, run, table, visit);
      case 2: return for_each_byte<2>(layout, run, table, visit);
      case 4: return for_each_byte<4>(layout, run, table, visit);
      default: return for_each_byte<8>(layout, run, table, visit);
    }
  });
}

// Calls visit(byte of the plane, shift within it, value) for every integer of the chunk, until that returns false.
template <class Visit>
bool for_each_packed(const PackedRows& packed, uint64_t at, Bytes chunk, uint8_t* plane, Visit visit) {
  const uint64_t per_byte = 8 / packed.bits, row_bytes = (packed.per_row + per_byte - 1) / per_byte;
  const uint64_t end = packed.rows * packed.per_row;
  for (size_t i = 0; i < chunk.size(); ++i) {
    for (uint64_t k = 0; k < per_byte; ++k) {
      const uint64_t element = (at + i) * per_byte + k;
      if (element >= end) return true;
      const uint64_t row = element / packed.per_row, col = element % packed.per_row;
      const auto value = static_cast<uint8_t>(chunk[i] >> (k * packed.bits) & ((1u << packed.bits) - 1));
      const auto shift = static_cast<uint32_t>(col % per_byte * packed.bits);
      if (!visit(plane[row * row_bytes + col / per_byte], shift, value)) return false;
    }
  }
  return true;
}

}  // namespace

void scatter(const StridedLayout& layout, uint64_t at, Bytes chunk, uint8_t* table) {
  for_each_byte(layout, at, chunk, table, [](uint8_t& place, uint8_t stored) {
    place = stored;
    return true;
  });
}

bool already_there(const StridedLayout& layout, uint64_t at, Bytes chunk, const uint8_t* table) {
  return for_each_byte(layout, at, chunk, const_cast<uint8_t*>(table),
                       [](const uint8_t& place, uint8_t stored) { return place == stored; });
}

void spread(const PackedRows& packed, uint64_t at, Bytes chunk, uint8_t* plane) {
  const uint32_t mask = (1u << packed.bits) - 1;
  for_each_packed(packed, at, chunk, plane, [mask](uint8_t& place, uint32_t shift, uint8_t value) {
    place = static_cast<uint8_t>((place & ~(mask << shift)) | static_cast<uint32_t>(value) << shift);
    return true;
  });
}

bool already_spread(const PackedRows& packed, uint64_t at, Bytes chunk, const uint8_t* plane) {
  const uint32_t mask = (1u << packed.bits) - 1;
  return for_each_packed(
      packed, at, chunk, const_cast<uint8_t*>(plane),
      [mask](uint8_t& place, uint32_t shift, uint8_t value) { return (place >> shift & mask) == value; });
}

namespace {

using Mxfp4Block = MXFP4::Block;
constexpr size_t kHalf = MXFP4::kBlockSize / 2;

// Where code i of a block lies: in which byte of `q`, and in which nibble.
struct CodePlace {
  size_t byte;
  uint32_t shift;
};
constexpr CodePlace code_place(size_t i) { return {i % kHalf, i < kHalf ? 0u : 4u}; }

// Calls visit(byte of q, shift, code) for both codes of every byte, until that returns false.
template <class Visit>
bool for_each_code(uint64_t at, Bytes chunk, uint8_t* blocks, Visit visit) {
  auto* to = reinterpret_cast<Mxfp4Block*>(blocks);
  for (size_t i = 0; i < chunk.size(); ++i) {
    Mxfp4Block& block = to[(at + i) / kHalf];
    for (const uint32_t nibble : {0u, 1u}) {
      const CodePlace place = code_place((at + i) % kHalf * 2 + nibble);
      if (!visit(block.q[place.byte], place.shift, chunk[i] >> (4 * nibble) & 15u)) return false;
    }
  }
  return true;
}

}  // namespace

void put_mxfp4_codes(uint64_t at, Bytes chunk, uint8_t* blocks) {
  for_each_code(at, chunk, blocks, [](uint8_t& byte, uint32_t shift, uint32_t code) {
    byte = static_cast<uint8_t>((byte & ~(15u << shift)) | code << shift);
    return true;
  });
}

bool holds_mxfp4_codes(uint64_t at, Bytes chunk, const uint8_t* blocks) {
  return for_each_code(
      at, chunk, const_cast<uint8_t*>(blocks),
      [](uint8_t& byte, uint32_t shift, uint32_t code) { return (byte >> shift & 15u) == code; });
}

void put_mxfp4_exponents(uint64_t at, Bytes chunk, uint8_t* blocks) {
  auto* to = reinterpret_cast<Mxfp4Block*>(blocks) + at;
  for (size_t i = 0; i < chunk.size(); ++i) to[i].exponent = chunk[i];
}

bool holds_mxfp4_exponents(uint64_t at, Bytes chunk, const uint8_t* blocks) {
  const auto* held = reinterpret_cast<const Mxfp4Block*>(blocks) + at;
  for (size_t i = 0; i < chunk.size(); ++i) {
    if (held[i].exponent != chunk[i]) return false;
  }
  return true;
}

}  // namespace id2vec

#include "model/convert.h"

#include <algorithm>

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

}  // namespace

bool StridedLayout::nests() const {
  const bool known_size =
      element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
  if (row_stride == 0 || col_stride == 0 || !known_size) return false;
  return row_stride >= col_stride ? cols <= (row_stride - 1) / col_stride + 1 || rows <= 1
                                  : rows <= (col_stride - 1) / row_stride + 1 || cols <= 1;
}

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

}  // namespace id2vec

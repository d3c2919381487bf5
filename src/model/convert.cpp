#include "model/convert.h"

#include <algorithm>

namespace id2vec {
namespace {

// Calls visit(first table byte of the element, its bytes in the chunk, their position inside of the element) for
// every element that the chunk holds a part of, until that returns false. Gaps between elements are passed over.
template <class Visit>
bool for_each_element(const StridedLayout& layout, uint64_t at, Bytes chunk, Visit visit) {
  const bool rows_outside = layout.row_stride >= layout.col_stride;
  const uint64_t outer_stride = rows_outside ? layout.row_stride : layout.col_stride;
  const uint64_t inner_stride = rows_outside ? layout.col_stride : layout.row_stride;
  const uint64_t outer_size = rows_outside ? layout.rows : layout.cols;
  const uint64_t inner_size = rows_outside ? layout.cols : layout.rows;
  const uint64_t outer_step = rows_outside ? layout.cols : 1, inner_step = rows_outside ? 1 : layout.cols;
  const uint64_t first = at / layout.element_bytes;
  uint64_t outer = first / outer_stride, rest = first % outer_stride;
  uint64_t skip = at % layout.element_bytes;  // bytes of the first element that came before
  while (!chunk.empty() && outer < outer_size) {
    const size_t length = std::min<uint64_t>(layout.element_bytes - skip, chunk.size());
    const uint64_t inner = rest / inner_stride;
    if (rest % inner_stride == 0 && inner < inner_size) {
      const uint64_t element = outer * outer_step + inner * inner_step;
      if (!visit(element * layout.element_bytes, chunk.first(length), skip)) return false;
    }
    chunk = chunk.subspan(length);
    skip = 0;
    if (++rest == outer_stride) rest = 0, ++outer;
  }
  return true;
}

// Where byte `i` of a stored element belongs in the table's element.
size_t place_of(const StridedLayout& layout, size_t i) {
  return layout.swap_bytes ? layout.element_bytes - 1 - i : i;
}

}  // namespace

bool StridedLayout::nests() const {
  if (row_stride == 0 || col_stride == 0 || element_bytes == 0) return false;
  return row_stride >= col_stride ? cols <= (row_stride - 1) / col_stride + 1 || rows <= 1
                                  : rows <= (col_stride - 1) / row_stride + 1 || cols <= 1;
}

void scatter(const StridedLayout& layout, uint64_t at, Bytes chunk, uint8_t* table) {
  for_each_element(layout, at, chunk, [&](uint64_t target, Bytes bytes, size_t skipped) {
    for (size_t i = 0; i < bytes.size(); ++i) table[target + place_of(layout, skipped + i)] = bytes[i];
    return true;
  });
}

bool already_there(const StridedLayout& layout, uint64_t at, Bytes chunk, const uint8_t* table) {
  return for_each_element(layout, at, chunk, [&](uint64_t target, Bytes bytes, size_t skipped) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (table[target + place_of(layout, skipped + i)] != bytes[i]) return false;
    }
    return true;
  });
}

}  // namespace id2vec

// What the writers make: the bytes in front of the weights, and where every tensor's weights go.
//
//   Directory what;                                     // tensors: name, dtype, shape; metadata; vocabulary
//   ID2VEC_ASSIGN(FileLayout layout, gguf_layout(what));
//   … write layout.header, then for every i of layout.order: zeros up to layout.offsets[i], the bytes of tensor i;
//     zeros up to layout.bytes at the end
//
// No weight passes through a writer, so a file of any size can be written piece by piece.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "containers/directory.h"
#include "core/bytes.h"
#include "core/status.h"

namespace id2vec {

struct FileLayout {
  std::vector<uint8_t> header;
  std::vector<uint64_t> offsets;  // of tensors[i], from the start of the file
  std::vector<uint32_t> order;    // indices of the tensors in the order of their offsets
  uint64_t bytes = 0;             // of the whole file
};

// The whole file in one piece. pieces[i]: the weights of tensor i; their lengths must be the layout's.
std::vector<uint8_t> assemble(const FileLayout& layout, std::span<const Bytes> pieces);

inline void append(std::vector<uint8_t>& out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

template <class T>
void append_le(std::vector<uint8_t>& out, T value) {
  uint8_t bytes[sizeof value];
  store_le(bytes, value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

inline uint64_t aligned(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace id2vec

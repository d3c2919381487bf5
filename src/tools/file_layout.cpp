#include "tools/file_layout.h"

#include <cstring>

namespace id2vec {

std::vector<uint8_t> assemble(const FileLayout& layout, std::span<const Bytes> pieces) {
  std::vector<uint8_t> file(static_cast<size_t>(layout.bytes));
  std::memcpy(file.data(), layout.header.data(), layout.header.size());
  for (uint32_t i : layout.order) {
    if (!pieces[i].empty()) std::memcpy(file.data() + layout.offsets[i], pieces[i].data(), pieces[i].size());
  }
  return file;
}

}  // namespace id2vec

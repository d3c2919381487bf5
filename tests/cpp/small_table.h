// Float tables small enough to work by hand, and directories that hold nothing but metadata.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "containers/directory.h"
#include "table/table.h"

namespace id2vec {

inline std::unique_ptr<Table> float_table(uint64_t rows, uint32_t cols, const std::vector<float>& values) {
  auto table =
      std::move(Table::allocate({dtype_by_name("F32"), rows, cols, {}}, *kernel_table("auto")).value());
  std::memcpy(table->plane(0).data(), values.data(), values.size() * sizeof(float));
  return table;
}

inline Directory directory_with(std::vector<std::pair<std::string, MetadataValue>> metadata) {
  Directory directory;
  for (auto& [key, value] : metadata) directory.metadata.emplace(key, std::move(value));
  return directory;
}

}  // namespace id2vec

// The one list of containers. A container is a pair of functions and one row in containers.cpp; detection is by
// content, never by the file's ending.
#pragma once

#include <span>

#include "containers/directory.h"
#include "containers/file_set.h"

namespace id2vec {

struct ContainerReader {
  std::string_view name;
  // Says whether the first bytes of a file (up to 64 KiB, or the whole file) are of this container.
  bool (*matches)(Bytes head, uint64_t file_size);
  // Reads one file's header. Pure function of the FileSet: see file_set.h for kNeedBytes.
  Result<Directory> (*read)(FileSet& files, std::string_view file);
};

std::span<const ContainerReader> container_readers();

// Reads the root file's header and those of its siblings (index + shards, GGUF splits, ONNX external data).
Result<Directory> read_directory(FileSet& files);

}  // namespace id2vec

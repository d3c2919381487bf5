// The one list of containers. A container is a pair of functions and one row in readers.cpp; detection is by
// content, never by the file's ending. A build that is to be small has common_readers.cpp instead.
#pragma once

#include <span>

#include "containers/directory.h"
#include "containers/file_set.h"

namespace id2vec {

struct ContainerReader {
  std::string_view name;
  // Says whether the first bytes of a file (limits::kDetectionBytes, or the whole file) are of this
  // container.
  bool (*matches)(Bytes head, uint64_t file_size);
  // Reads the header of a file, and of the siblings that it names (GGUF splits, an index of shards, ONNX
  // external data). Pure function of the FileSet: see file_set.h for kNeedBytes.
  Result<Directory> (*read)(FileSet& files, std::string_view file);
  // Checkpoints of this container leave what they mean to a config.json beside them.
  bool has_config = false;
};

std::span<const ContainerReader> container_readers();

// Says of a file that none of them matches what it seems to be; kUnrecognised where another build may know it.
Status unrecognised_file(std::string_view file, Bytes head);

// Where to look for the index if `file` is one shard: "model.safetensors.index.json" for
// "model-00002-of-00005.safetensors"; empty if the name has not that form.
std::string index_of_shard(std::string_view file);

// Recognises a file and reads its header. kUnsupported where no reader matches, with a sentence about what
// the file seems to be (an HTML page, a Git LFS pointer, a compressed file, …).
Result<Directory> read_file(FileSet& files, std::string_view file);

// The directory of the root file; where that is one shard of several, or missing, of the index of shards
// beside it.
Result<Directory> read_directory(FileSet& files);

}  // namespace id2vec

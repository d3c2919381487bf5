#include "containers/reader.h"

#include <algorithm>

#include "containers/config.h"
#include "containers/gguf.h"
#include "containers/limits.h"
#include "containers/npy.h"
#include "containers/onnx.h"
#include "containers/pytorch.h"
#include "containers/safetensors.h"
#include "containers/shard_index.h"
#include "containers/unknown.h"
#include "core/text.h"

namespace id2vec {
namespace {

// Tried in this order: unmistakable magics first.
constexpr ContainerReader kReaders[] = {
    {"GGUF", is_gguf, read_gguf},
    {"safetensors", is_safetensors, read_safetensors, true},
    {"npz", is_npz, read_npz},
    {"PyTorch", is_pytorch_zip, read_pytorch_zip, true},
    {"npy", is_npy, read_npy},
    {"PyTorch (legacy)", is_pytorch_legacy, read_pytorch_legacy, true},
    {"shard index", is_shard_index, read_shard_index, true},
    {"ONNX", is_onnx, read_onnx, true},
};

Result<const ContainerReader*> recognise(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const uint64_t size, files.size(file));
  ID2VEC_ASSIGN(const Bytes head, files.read(file, 0, std::min(size, limits::kDetectionBytes)));
  for (const ContainerReader& reader : kReaders) {
    if (reader.matches(head, size)) return &reader;
  }
  return unknown_file(file, head);
}

// The file to start from: see read_directory.
Result<std::string> starting_file(FileSet& files) {
  const std::string& root = files.root();
  if (const std::string index = index_of_shard(root); !index.empty()) {
    ID2VEC_ASSIGN(const bool present, files.exists(index));
    if (present) return index;
  }
  const Result<uint64_t> size = files.size(root);
  if (size.status().code() == Code::kNotFound) {
    const std::string index = concat(root, ".index.json");
    ID2VEC_ASSIGN(const bool present, files.exists(index));
    if (present) return index;
  }
  if (!size.ok()) return size.status();
  return root;
}

}  // namespace

std::span<const ContainerReader> container_readers() { return kReaders; }

Result<Directory> read_file(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const ContainerReader* const reader, recognise(files, file));
  return reader->read(files, file);
}

Result<Directory> read_directory(FileSet& files) {
  ID2VEC_ASSIGN(const std::string file, starting_file(files));
  ID2VEC_ASSIGN(const ContainerReader* const reader, recognise(files, file));
  ID2VEC_ASSIGN(Directory directory, reader->read(files, file));
  if (reader->has_config) ID2VEC_RETURN_IF_ERROR(attach_config(files, directory));
  return directory;
}

}  // namespace id2vec

// A directory is what every container's header boils down to: named tensors with dtype, shape and byte range,
// some metadata, and (in GGUF) a vocabulary. Invariant: nothing in containers/ reads a weight.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/catalog.h"

namespace id2vec {

// Where the elements of one tensor lie. `shape` is row-major everywhere, also for GGUF, whose file order is
// reversed: an embedding table is always [V, d].
struct Tensor {
  std::string name;
  const Dtype* dtype = nullptr;      // never null in a Directory
  std::vector<uint64_t> shape;
  uint32_t file = 0;                 // index into Directory::files
  uint64_t offset = 0;               // from the start of that file
  uint64_t bytes = 0;                // as stored; for a compressed entry, after decompression
  std::vector<uint64_t> strides;     // in elements; empty means contiguous and row-major
  bool big_endian = false;           // npy `>f4` and friends
  uint64_t deflated_bytes = 0;       // npz: > 0 means raw deflate data of this many bytes at `offset`
  std::vector<uint8_t> inline_bytes; // ONNX typed fields: the elements themselves, where no contiguous file range holds them

  uint64_t elements() const;
};

using MetadataValue = std::variant<bool, int64_t, uint64_t, double, std::string, std::vector<double>, std::vector<std::string>>;

// Pieces of the vocabulary in one blob: piece i is text.substr(offsets[i], offsets[i + 1] - offsets[i]).
struct Vocabulary {
  std::string text;
  std::vector<uint32_t> offsets;     // size() + 1 entries, or empty
  std::vector<float> scores;         // empty where the file has none
  std::vector<int32_t> types;        // tokenizer.ggml.token_type; empty where the file has none

  size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view piece(size_t id) const {
    return std::string_view(text).substr(offsets[id], offsets[id + 1] - offsets[id]);
  }
};

struct Directory {
  std::string_view container;        // "GGUF", "safetensors", "PyTorch", "npy", "npz", "ONNX"
  std::vector<std::string> files;    // names, relative to the root file
  std::vector<Tensor> tensors;
  std::map<std::string, MetadataValue, std::less<>> metadata;   // large token arrays go to `vocabulary` instead
  Vocabulary vocabulary;

  const Tensor* find(std::string_view name) const;
  // Typed look-ups of metadata; fallback where the key is absent or of another kind.
  double number(std::string_view key, double fallback) const;
  std::string_view text(std::string_view key, std::string_view fallback) const;
};

}  // namespace id2vec

// A directory is what every container's header boils down to: named tensors with dtype, shape and byte range,
// some metadata, and (in GGUF) a vocabulary. Invariant: nothing in containers/ reads a weight.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/status.h"
#include "formats/catalog.h"

namespace id2vec {

// Where the elements of one tensor lie. `shape` is row-major everywhere, also for GGUF, whose file order is
// reversed: an embedding table is always [V, d].
struct Tensor {
  std::string name;
  const Dtype* dtype = nullptr;  // never null in a Directory
  std::vector<uint64_t> shape;
  uint32_t file = 0;             // index into Directory::files
  uint64_t offset = 0;           // from the start of that file
  uint64_t bytes = 0;            // from the first element to the end of the last one
  // In elements, one per dimension; empty means contiguous and row-major. No two elements share a place, so
  // elements() · element size ≤ bytes also where there are strides (expanded views are refused).
  std::vector<uint64_t> strides;
  bool big_endian = false;  // npy `>f4` and friends
  // ONNX typed fields: the elements themselves, where no contiguous file range holds them
  std::vector<uint8_t> inline_bytes;

  // Π shape. Readers have checked that it does not wrap.
  uint64_t elements() const;
};

// The bytes of a contiguous tensor: Π shape / block_size · block_bytes. kMalformed where the product wraps or the
// last dimension (the row) is no whole number of blocks. `where` begins the error sentence ("model.gguf").
Result<uint64_t> tensor_bytes(std::string_view where, const Tensor& tensor);

// kMalformed where two tensors have the same name.
Status check_unique_names(std::string_view where, const std::vector<Tensor>& tensors);

// An array that is too long to be taken apart (merges, precompiled tables). Where it comes from GGUF its elements are
// kept as they are stored there, to be written again or read by those who need them; else only its length is known.
struct LongArray {
  uint64_t length = 0;
  uint32_t type = 0;             // GGUF's number of the elements' type
  std::vector<uint8_t> bytes{};  // of all elements; empty where only the length is known
};

using MetadataValue = std::variant<bool, int64_t, uint64_t, double, std::string, std::vector<double>,
                                   std::vector<std::string>, LongArray>;

// Pieces of the vocabulary in one blob: piece i is text.substr(offsets[i], offsets[i + 1] - offsets[i]).
struct Vocabulary {
  std::string text;
  std::vector<uint32_t> offsets;  // size() + 1 entries, or empty
  std::vector<float> scores;      // empty where the file has none
  std::vector<int32_t> types;     // tokenizer.ggml.token_type; empty where the file has none

  size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view piece(size_t id) const {
    return std::string_view(text).substr(offsets[id], offsets[id + 1] - offsets[id]);
  }
};

// What a container's own graph says about a tensor's role (ONNX). Roles that a graph states beat guesses by name.
//
// `bits` > 0: `tensor` holds integers that are dequantized as (q − zero point) · scale, in groups of `group_size`
// weights along a row, packed low bits first and consecutive into bytes where bits < 8; rows start at a byte.
// Only integers of 8 bits may be transposed.
struct RoleHint {
  // "embedding", "head", "head_bias", "positions", "token_types", "norm_weight", "norm_bias"
  std::string role;
  std::string tensor;
  bool transposed = false;      // stored [d, V]: the role wants its transpose
  uint64_t rows = 0, cols = 0;  // V and d of the role, after transposing and unpacking
  std::string scales;           // a tensor's name; empty: not quantized
  // a tensor's name, integers packed like the quants; empty: `zero_point` everywhere
  std::string zero_points;
  int32_t zero_point = 0;
  uint32_t bits = 0;        // 0: not quantized
  uint32_t group_size = 0;  // 0: one scale per row
  bool per_tensor = false;  // one scale (and zero point) for all rows
  bool is_signed = false;   // the integers are two's complement
  // The zero points are one stream over all rows, and a row of them need not start at a byte.
  bool zero_points_cross_rows = false;
  // Not empty: the graph gives this tensor the role, but in a way that is not read; a sentence that says why.
  std::string problem;
};

struct Directory {
  std::string_view container;      // "GGUF", "safetensors", "PyTorch", "npy", "npz", "ONNX"
  std::vector<std::string> files;  // names, relative to the root file; may be virtual (file_set.h)
  std::vector<Tensor> tensors;
  // large token arrays go to `vocabulary` instead
  std::map<std::string, MetadataValue, std::less<>> metadata;
  Vocabulary vocabulary;
  std::vector<RoleHint> hints;  // most certain first; empty where the container has no graph
  // Entries that the container holds but id2vec cannot use ("words: object arrays are not read"), in sentences.
  std::vector<std::string> skipped;
  std::vector<std::string> warnings;  // where a file contradicts itself without harm, in sentences

  // The first tensor of that name. Names and places of tensors must not change once it was called; more may follow.
  const Tensor* find(std::string_view name) const;
  // Index of a file's name in `files`, added if it is new.
  uint32_t file_index(std::string_view name);
  // Typed look-ups of metadata; fallback where the key is absent or of another kind.
  double number(std::string_view key, double fallback) const;
  std::string_view text(std::string_view key, std::string_view fallback) const;

 private:
  // Indices of the tensors in the order of their names, made by the first find(): roles are looked for by asking for
  // many names, and a file may hold a million tensors.
  mutable std::vector<uint32_t> by_name_;
};

// Adds the tensors, files, warnings and skipped entries of another file of the same model; its metadata is left
// out where the key is there already. kLimit past limits::kTensors.
Status append_shard(Directory& whole, Directory shard);

}  // namespace id2vec

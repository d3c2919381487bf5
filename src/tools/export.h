// A file of some tables: what `quantize` and `convert` write. Metadata and vocabulary come from the file that the
// tables were read from; its other tensors are left out.
#pragma once

#include <string>

#include "table/table.h"
#include "tools/file_layout.h"

namespace id2vec {

struct NamedTable {
  std::string name;
  const Table* table = nullptr;
  bool is_vector = false;  // a table of one row that is a tensor of one dimension (a norm, a bias)
};

// Integers [count] that are no table and are written as they are: the `mapping` of static embeddings.
struct NamedIntegers {
  std::string name;
  const Dtype* dtype = nullptr;
  uint64_t count = 0;
  Bytes bytes;
};

enum class Container : uint8_t { kGguf, kSafetensors };

struct Export {
  Directory directory;        // what the new file holds
  FileLayout layout;
  std::vector<Bytes> pieces;  // of the tensors, in the tables' own memory
};

// Tables with one signed byte per weight become two tensors, as PyTorch quantizers name them: the name itself (I8), and
// with ".weight_scale" for ".weight" the scales of the rows (F32). GGUF needs `general.architecture`; where `source`
// has none it is config.json's model_type, or "embedding".
//
// kUnsupported: other integer tables whose scales lie apart, and what the writers refuse (ggml has no unsigned types).
// kInvalidArgument: integers whose bytes are not `count` of their type.
Result<Export> export_tables(Container container, const Directory& source, std::span<const NamedTable> tables,
                             std::span<const NamedIntegers> integers = {});

}  // namespace id2vec

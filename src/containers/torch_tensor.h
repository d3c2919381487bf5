// The tensors of an interpreted checkpoint: which storage, which dtype, which view of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "containers/directory.h"
#include "containers/pickle.h"

namespace id2vec {

// A storage as a persistent id names it: ("storage", class, key, device, count[, view]).
struct TorchStorage {
  std::string_view key;
  std::string_view dtype;    // "F32", …; a name that the catalog lacks where id2vec has no such type
  uint64_t item_bytes = 0;
  uint64_t count = 0;        // elements
  uint64_t view_offset = 0;  // legacy views: elements before the first one of the view
  uint64_t view_count = 0;   // elements of the view; count where there is no view
};

// nullopt for a persistent id of another kind or with numbers that are none.
std::optional<TorchStorage> torch_storage(const Pickle& pickle, PickleRef persistent);

// Where a storage's bytes lie.
struct TorchBytes {
  uint32_t file = 0;  // index into Directory::files
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// Finds storages in one of the two containers.
class TorchStorages {
 public:
  virtual Result<TorchBytes> find(const TorchStorage& storage) = 0;

 protected:
  ~TorchStorages() = default;
};

// Adds every tensor of the pickle to the directory. Tensors of a dtype that id2vec has not, and expanded
// views, go to directory.skipped; views that leave their storage are kMalformed; no tensor at all is
// kUnsupported.
Status add_torch_tensors(std::string_view where, const Pickle& pickle, TorchStorages& storages,
                         bool big_endian, Directory& directory);

}  // namespace id2vec

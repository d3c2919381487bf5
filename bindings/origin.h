// What a file says beside its tensors, as JavaScript holds it.
#pragma once

#include <emscripten/val.h>

#include <string>
#include <utility>

#include "containers/directory.h"
#include "containers/origin.h"

namespace id2vec {

// Metadata and vocabulary. It outlives the file's opener, so that a model can be written again.
class Origin {
 public:
  // Takes them out of `source`.
  explicit Origin(Directory&& source) {
    directory_.metadata = std::exchange(source.metadata, {});
    directory_.vocabulary = std::exchange(source.vocabulary, {});
  }

  const Vocabulary& vocabulary() const { return directory_.vocabulary; }
  // {type, length, address, bytes} of an array that metadata holds as it was stored; null where there is none.
  emscripten::val long_array(const std::string& key) const;

  // All of it as bytes for another core, at packed() until drop_packed().
  void pack() { packed_ = pack_origin(directory_); }
  uintptr_t packed() const { return reinterpret_cast<uintptr_t>(packed_.data()); }
  size_t packed_bytes() const { return packed_.size(); }
  void drop_packed() { packed_ = {}; }

 private:
  Directory directory_;
  std::string packed_;
};

}  // namespace id2vec

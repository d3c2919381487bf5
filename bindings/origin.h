// What a file says beside its tensors, as JavaScript holds it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "answer.h"
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

  // { size, text, offsets, scores, types }: addresses as in Vocabulary, 0 where there is nothing.
  Answer vocabulary() const;
  // { type, length, address, bytes } of an array that metadata holds as it was stored; null where there is none.
  Answer long_array(const std::string& key) const;

  // { address, bytes } of all of it, packed for another core; there until drop_packed().
  Answer pack();
  void drop_packed() { packed_ = {}; }

 private:
  Directory directory_;
  std::string packed_;
};

}  // namespace id2vec

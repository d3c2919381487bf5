#include "origin.h"

#include <vector>

#include "border.h"

namespace id2vec {
namespace {

// Address of the first element; 0 where there is none.
template <class List>
uintptr_t start_of(const List& values) {
  return values.empty() ? 0 : address_of(values.data());
}

}  // namespace

Answer Origin::vocabulary() const {
  const Vocabulary& vocabulary = directory_.vocabulary;
  return Answer::object("size", vocabulary.size(), "text", start_of(vocabulary.text), "offsets",
                        start_of(vocabulary.offsets), "scores", start_of(vocabulary.scores), "types",
                        start_of(vocabulary.types));
}

Answer Origin::long_array(const std::string& key) const {
  const auto found = directory_.metadata.find(key);
  const auto* array = found == directory_.metadata.end() ? nullptr : std::get_if<LongArray>(&found->second);
  if (array == nullptr || array->bytes.empty()) return Answer::of(std::optional<bool>());
  return Answer::object("type", array->type, "length", array->length, "address", start_of(array->bytes),
                        "bytes", array->bytes.size());
}

Answer Origin::pack() {
  packed_ = pack_origin(directory_);
  return Answer::object("address", start_of(packed_), "bytes", packed_.size());
}

EMSCRIPTEN_BINDINGS(id2vec_origin) {
  bind<&destroy<Origin>>("deleteOrigin");
  bind<&Origin::vocabulary>("vocabulary");
  bind<&Origin::long_array>("longArray");
  bind<&Origin::pack>("packOrigin");
  bind<&Origin::drop_packed>("dropPacked");
}

}  // namespace id2vec

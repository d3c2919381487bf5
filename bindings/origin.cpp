#include "origin.h"

#include <emscripten/bind.h>

#include <vector>

#include "to_js.h"

namespace id2vec {

using emscripten::val;

val Origin::long_array(const std::string& key) const {
  const auto found = directory_.metadata.find(key);
  const auto* array = found == directory_.metadata.end() ? nullptr : std::get_if<LongArray>(&found->second);
  if (array == nullptr || array->bytes.empty()) return val::null();
  val object = val::object();
  object.set("type", array->type);
  object.set("length", number(array->length));
  object.set("address", reinterpret_cast<uintptr_t>(array->bytes.data()));
  object.set("bytes", number(array->bytes.size()));
  return object;
}

namespace {

// Address of the first element; 0 where there is none.
template <class T>
uintptr_t address_of(const std::vector<T>& values) {
  return values.empty() ? 0 : reinterpret_cast<uintptr_t>(values.data());
}

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec_origin) {
  emscripten::class_<Origin>("Origin")
      .property(
          "size", +[](const Origin& origin) { return origin.vocabulary().size(); })
      .property(
          "text",
          +[](const Origin& origin) { return reinterpret_cast<uintptr_t>(origin.vocabulary().text.data()); })
      .property(
          "offsets", +[](const Origin& origin) { return address_of(origin.vocabulary().offsets); })
      .property(
          "scores", +[](const Origin& origin) { return address_of(origin.vocabulary().scores); })
      .property(
          "types", +[](const Origin& origin) { return address_of(origin.vocabulary().types); })
      .function("longArray", &Origin::long_array)
      .function("pack", &Origin::pack)
      .function("packed", &Origin::packed)
      .function("packedBytes", &Origin::packed_bytes)
      .function("dropPacked", &Origin::drop_packed);
}

}  // namespace id2vec

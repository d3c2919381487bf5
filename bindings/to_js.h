// What the binding files say in plain objects: sizes and offsets as doubles, exact up to 2^53.
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "containers/directory.h"
#include "model/model.h"
#include "model/profile.h"
#include "table/table.h"

namespace id2vec {

inline emscripten::val text(std::string_view value) { return emscripten::val(std::string(value)); }
inline emscripten::val number(uint64_t value) { return emscripten::val(static_cast<double>(value)); }

template <class List, class Convert>
emscripten::val array_of(const List& list, Convert convert) {
  emscripten::val array = emscripten::val::array();
  unsigned i = 0;
  for (const auto& item : list) array.set(i++, convert(item));
  return array;
}

// Metadata goes as [key, value] pairs: a key may be "__proto__".
emscripten::val directory_to_js(const Directory& directory);

// { roles, profile, tying, headProblem, warnings }
emscripten::val plan_to_js(const ModelPlan& plan);

// What a table is, but for its rows: a plain object that may be sent to another thread.
emscripten::val spec_to_js(const TableSpec& spec);
TableSpec spec_from_js(const emscripten::val& object, uint64_t rows);

}  // namespace id2vec

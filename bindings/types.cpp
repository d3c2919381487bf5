// What Embind needs once: the types that cross the border (border.h), and the list of functions to be registered.
//
// It stands in for the same three functions of Emscripten's library (system/lib/embind/bind.cpp), which registers all of
// C++'s own types, wide strings and views of arrays included, and prints addresses by sprintf: some 3 KB of a page's
// download that nothing here uses. With another Emscripten a build fails where these no longer fit.
#include <emscripten/bind.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

using emscripten::internal::InitFunc;
using emscripten::internal::TypeID;

namespace {
InitFunc* functions = nullptr;
}

extern "C" {

// Of a type that was not registered: a mistake that border.h does not compile.
const char* __getTypeName(const std::type_info*) { return strdup("unknown"); }

void _embind_register_bindings(InitFunc* function) {
  function->next = functions;
  functions = function;
}

void _embind_initialize_bindings() {
  for (const InitFunc* each = functions; each != nullptr; each = each->next) each->init_func();
}

}  // extern "C"

EMSCRIPTEN_BINDINGS(types) {
  using namespace emscripten::internal;
  _embind_register_void(TypeID<void>::get(), "void");
  _embind_register_bool(TypeID<bool>::get(), "bool", true, false);
  _embind_register_integer(TypeID<size_t>::get(), "unsigned long", sizeof(size_t), 0,
                           std::numeric_limits<size_t>::max());
  _embind_register_float(TypeID<double>::get(), "double", sizeof(double));
  _embind_register_std_string(TypeID<std::string>::get(), "std::string");
}

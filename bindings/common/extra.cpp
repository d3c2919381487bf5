// The end of what cmake/wasm.cmake keeps out of the common module's first part: JavaScript calls startExtra() once the
// code is there, and never anything that needs it before.
#include <emscripten/bind.h>

#include "containers/common_readers.h"
#include "training.h"

namespace id2vec {
namespace {

void start_extra() {
  all_common_readers_are_here();
  register_training();
}

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec_extra) { emscripten::function("startExtra", &start_extra); }

}  // namespace id2vec

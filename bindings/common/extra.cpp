// The end of what cmake/wasm.cmake keeps out of the common module's first part: JavaScript calls startExtra() once the
// code is there, and never anything that needs it before.
#include "border.h"
#include "containers/common_readers.h"
#include "geometry.h"
#include "training.h"

namespace id2vec {
namespace {

void start_extra() {
  all_common_readers_are_here();
  register_geometry();
  register_training();
}

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec_extra) { bind<&start_extra>("startExtra"); }

}  // namespace id2vec

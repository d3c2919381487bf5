// A full module is one part, and has from the start what comes to the common one later (bindings/common/extra.cpp).
#include <emscripten/bind.h>

#include "geometry.h"
#include "training.h"

EMSCRIPTEN_BINDINGS(id2vec_whole) {
  id2vec::register_geometry();
  id2vec::register_training();
}

// A full module is one part, and trains from the start.
#include "training.h"

#include <emscripten/bind.h>

EMSCRIPTEN_BINDINGS(id2vec_training) { id2vec::register_training(); }

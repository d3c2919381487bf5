// The readers of a module that is to be small: those of the containers that most models on the web come in. They take
// the place of readers.cpp; a file that is something else is for a module that has them all.
#pragma once

namespace id2vec {

// Such a module comes in two parts (see cmake/wasm.cmake), and only the reader of GGUF is in the first. To be called once
// the second part is there; until then, other files are kUnrecognised.
void all_common_readers_are_here();

}  // namespace id2vec

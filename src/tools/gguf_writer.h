// Writes GGUF version 3 (layout: containers/gguf.h) from a Directory.
//
// Metadata is written in the narrowest type that llama.cpp expects of it: u32 or i32 where the number fits, f32 where
// that is exact; long arrays as they were read. Keys of the form `split.…` are left out, for what is written is one
// file; so are arrays of which only the length is known. `general.alignment` is obeyed (default 32).
#pragma once

#include "tools/file_layout.h"

namespace id2vec {

// kUnsupported: a dtype that GGUF has no number for, more than 4 dimensions, a name of 64 bytes or more (ggml refuses
// those). kInvalidArgument: a shape that is no whole number of blocks, an alignment that is no power of two ≥ 8.
Result<FileLayout> gguf_layout(const Directory& directory);

}  // namespace id2vec

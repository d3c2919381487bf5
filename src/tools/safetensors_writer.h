// Writes safetensors (layout: containers/safetensors.h) from a Directory.
//
// Wide elements come first, so that every tensor is aligned although the format allows no gaps; the header is padded
// with spaces to a multiple of 8. Of the metadata, the entries "__metadata__.<key>" that are text are written.
#pragma once

#include "tools/file_layout.h"

namespace id2vec {

// kUnsupported: a dtype that safetensors does not have (blocks of weights). kInvalidArgument: two tensors of one name.
Result<FileLayout> safetensors_layout(const Directory& directory);

}  // namespace id2vec

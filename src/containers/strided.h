// Tensors that are views: element (i, j, …) lies at offset + (i · strides[0] + j · strides[1] + …) elements.
#pragma once

#include <string_view>
#include <vector>

#include "containers/directory.h"

namespace id2vec {

// Sets tensor.strides and tensor.bytes from its dtype (blocks of one element), its shape and `strides` (one
// per dimension, in elements); row-major contiguous strides become none. kMalformed where an extent does not
// fit in 64 bits, kUnsupported where two elements share a place (an expanded view: few bytes that stand for
// many), kLimit for more than limits::kDimensions. `where` begins the error sentence.
Status set_strides(std::string_view where, Tensor& tensor, std::vector<uint64_t> strides);

}  // namespace id2vec

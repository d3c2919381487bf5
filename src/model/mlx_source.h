#pragma once

#include "containers/directory.h"
#include "core/status.h"
#include "model/model.h"

namespace id2vec {

// A table as MLX quantizes it: U32 `x.weight`, and beside it `x.scales` and `x.biases`, by config.json's bits and group
// size (mode affine), or `x.scales` alone, which are exponents (mode mxfp4). kNotFound where config.json does not say,
// kUnsupported for other modes.
Result<TableSource> mlx_source(const Directory& directory, const Tensor& quants, const Tensor& scales);

}  // namespace id2vec

// From a tensor (or several that belong together) to the bytes that have to be read for a table of it.
#pragma once

#include "containers/directory.h"
#include "core/status.h"
#include "model/model.h"

namespace id2vec {

// A float tensor of one or two dimensions, or a quantized one with its scales beside it:
//   MLX           see mlx_source.h
//   row-wise int8 I8 `x.weight` + `x.weight_scale` (one per row or one in all), or `x.SCB` (127 · scale)
// An I8 matrix without scales gets the scale 1 (model2vec: only directions mean anything).
// kUnsupported where the dtype is no format and nothing beside it makes it one.
Result<TableSource> table_source(const Directory& directory, const Tensor& tensor);

// The transpose of a float table: [d, V] in the file, [V, d] in memory.
Result<TableSource> transposed_source(const Directory& directory, const Tensor& tensor);

// A vector of plain integers, whose bytes alone are asked for.
TableSource integer_source(const Tensor& tensor);

}  // namespace id2vec

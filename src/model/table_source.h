// From a tensor (or several that belong together) to the bytes that have to be read for a table of it.
#pragma once

#include "containers/directory.h"
#include "core/status.h"
#include "model/model.h"

namespace id2vec {

// The shape without leading ones.
std::span<const uint64_t> squeezed(const Tensor& tensor);

// A float tensor of one or two dimensions, or a quantized one with its scales beside it:
//   MLX           U32 `x.weight` + `x.scales` + `x.biases`; bits and group size in config.json
//                 (affine), or, in the mode mxfp4, `x.scales` alone, which are exponents
//   row-wise int8 I8 `x.weight` + `x.weight_scale` (one per row or one in all), or `x.SCB` (127 · scale)
// An I8 matrix without scales gets the scale 1 (model2vec: only directions mean anything).
// kUnsupported where the dtype is no format and nothing beside it makes it one.
Result<TableSource> table_source(const Directory& directory, const Tensor& tensor);

// By what a graph says; `hint.tensor` and the tensors beside it must exist (kNotFound).
Result<TableSource> table_source(const Directory& directory, const RoleHint& hint);

// The transpose of a float table: [d, V] in the file, [V, d] in memory.
Result<TableSource> transposed_source(const Directory& directory, const Tensor& tensor);

// A vector of plain integers, whose bytes alone are asked for.
TableSource integer_source(const Tensor& tensor);

}  // namespace id2vec

// What the ways from tensors to tables share: each tensor becomes a plane of the table, and has to have its bytes.
#pragma once

#include <span>

#include "containers/directory.h"
#include "core/status.h"
#include "model/model.h"

namespace id2vec {

// The shape without leading ones.
std::span<const uint64_t> squeezed(const Tensor& tensor);

// Row by row, in the machine's byte order.
bool is_plain(const Tensor& tensor);
// The refusal of one that is not.
Status not_plain(const Tensor& tensor);

// "model.embed_tokens" of "model.embed_tokens.weight": what the names of scales beside begin with.
std::string_view module_of(std::string_view name);

// `cols` as the width of a table; kLimit for none and for more than limits::kRowWeights.
Result<uint32_t> row_width(const Tensor& tensor, uint64_t cols);

// Bytes of the tensor, in the file or in the header.
uint64_t held_bytes(const Tensor& tensor);

// Adds a tensor's bytes as one plane: from the file, or from the header.
void add_plane(TableSource& source, const Tensor& tensor, uint32_t plane);

// The same for a tensor that has exactly the bytes that the table will have there; else kMalformed.
Status add_checked_plane(TableSource& source, const Tensor& tensor, uint32_t plane, uint64_t row_bytes);

// Integers of `bits` bits with scales beside; null for other numbers of bits than there are.
const Dtype* affine_format(uint64_t bits);
Result<ScaleType> scale_type(const Tensor& scales);

// All planes of such a table; null for scales and offsets that it does not have.
Status add_affine_planes(TableSource& source, const Tensor& quants, const Tensor* scales,
                         const Tensor* offsets);

}  // namespace id2vec

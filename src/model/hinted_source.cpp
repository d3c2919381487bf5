#include "model/hinted_source.h"

#include "core/text.h"
#include "model/planes.h"
#include "model/table_source.h"

namespace id2vec {
namespace {

// Plane 2 out of integers that are one stream over all rows.
Status add_crossing(TableSource& source, const Tensor& tensor, uint32_t bits) {
  if (!is_plain(tensor)) return not_plain(tensor);
  const uint64_t groups =
      (source.spec.cols + uint64_t{source.spec.affine.group_size} - 1) / source.spec.affine.group_size;
  source.conversion = Conversion::kZeroPoints;
  source.zero_points = {.rows = source.spec.rows, .per_row = groups, .bits = bits};
  const std::optional<uint64_t> all_bits = checked_mul(source.spec.rows, groups * bits);
  if (!all_bits || *all_bits / 8 + (*all_bits % 8 != 0) != held_bytes(tensor)) {
    return fail(Code::kMalformed, "tensor ", quoted(tensor.name), " has ", held_bytes(tensor), " bytes, but ",
                source.spec.rows, " rows of ", groups, " integers belong to ", quoted(source.name));
  }
  add_plane(source, tensor, 2);
  return {};
}

}  // namespace

Result<TableSource> hinted_source(const Directory& directory, const RoleHint& hint) {
  const auto named = [&](const std::string& name) -> Result<const Tensor*> {
    if (const Tensor* tensor = directory.find(name)) return tensor;
    return fail(Code::kNotFound, "the graph speaks of tensor ", quoted(name),
                ", which the file does not hold");
  };
  if (!hint.problem.empty()) return Status(Code::kUnsupported, hint.problem);
  ID2VEC_ASSIGN(const Tensor* const tensor, named(hint.tensor));
  if (hint.bits == 0) {
    return hint.transposed ? transposed_source(directory, *tensor) : table_source(directory, *tensor);
  }
  const Dtype* format = affine_format(hint.bits);
  if (format == nullptr) {
    return fail(Code::kUnsupported, "tensor ", quoted(tensor->name), " has ", hint.bits,
                " bits per weight, which is not read");
  }
  ID2VEC_ASSIGN(const Tensor* const scales, named(hint.scales));
  ID2VEC_ASSIGN(const uint32_t cols, row_width(*tensor, hint.cols));
  ID2VEC_ASSIGN(const ScaleType type, scale_type(*scales));
  TableSource source{.name = tensor->name};
  source.spec = {.dtype = format,
                 .rows = hint.rows,
                 .cols = cols,
                 .affine = {.group_size = hint.group_size == 0 ? cols : hint.group_size,
                            .scale_type = type,
                            .offsets = hint.zero_points.empty() ? Offsets::kNone : Offsets::kZeroPoints,
                            .is_signed = hint.is_signed,
                            .per_tensor = hint.per_tensor,
                            .zero_point = hint.zero_point}};
  if (hint.transposed) {
    if (hint.bits != 8) return not_plain(*tensor);
    source.conversion = Conversion::kStrided;
    source.layout = {
        .rows = hint.rows, .cols = cols, .row_stride = 1, .col_stride = hint.rows, .element_bytes = 1};
  }
  const Tensor* zero_points = nullptr;
  if (!hint.zero_points.empty()) {
    ID2VEC_ASSIGN(zero_points, named(hint.zero_points));
  }
  if (zero_points == nullptr || !hint.zero_points_cross_rows) {
    ID2VEC_RETURN_IF_ERROR(add_affine_planes(source, *tensor, scales, zero_points));
    return source;
  }
  ID2VEC_RETURN_IF_ERROR(add_affine_planes(source, *tensor, scales, nullptr));
  ID2VEC_RETURN_IF_ERROR(add_crossing(source, *zero_points, hint.bits));
  return source;
}

}  // namespace id2vec

#include "model/planes.h"

#include "containers/limits.h"
#include "core/text.h"
#include "formats/affine.h"

namespace id2vec {

std::span<const uint64_t> squeezed(const Tensor& tensor) {
  std::span<const uint64_t> shape(tensor.shape);
  while (shape.size() > 1 && shape.front() == 1) shape = shape.subspan(1);
  return shape;
}

bool is_plain(const Tensor& tensor) { return tensor.strides.empty() && !tensor.big_endian; }

Status not_plain(const Tensor& tensor) {
  return fail(Code::kUnsupported, "tensor ", quoted(tensor.name), " (", tensor.dtype->name,
              ") is stored in a strided or byte-swapped way, which is not read for quantized tables");
}

std::string_view module_of(std::string_view name) {
  constexpr std::string_view kWeight = ".weight";
  return name.ends_with(kWeight) ? name.substr(0, name.size() - kWeight.size()) : name;
}

Result<uint32_t> row_width(const Tensor& tensor, uint64_t cols) {
  if (cols == 0 || cols > limits::kRowWeights) {
    return fail(Code::kLimit, "tensor ", quoted(tensor.name), " has rows of ", cols,
                " weights, the limit is ", limits::kRowWeights);
  }
  return static_cast<uint32_t>(cols);
}

uint64_t held_bytes(const Tensor& tensor) {
  return tensor.inline_bytes.empty() ? tensor.bytes : tensor.inline_bytes.size();
}

void add_plane(TableSource& source, const Tensor& tensor, uint32_t plane) {
  if (!tensor.inline_bytes.empty()) {
    source.inline_runs.push_back({plane, tensor.inline_bytes});
  } else if (tensor.bytes > 0) {
    source.segments.push_back(
        {.file = tensor.file, .offset = tensor.offset, .bytes = tensor.bytes, .plane = plane, .target = 0});
  }
}

Status add_checked_plane(TableSource& source, const Tensor& tensor, uint32_t plane, uint64_t row_bytes) {
  if (!is_plain(tensor)) return not_plain(tensor);
  const uint64_t rows = plane > 0 && source.spec.affine.per_tensor ? 1 : source.spec.rows;
  if (checked_mul(rows, row_bytes) != held_bytes(tensor)) {
    return fail(Code::kMalformed, "tensor ", quoted(tensor.name), " has ", held_bytes(tensor), " bytes, but ",
                rows, " rows of ", row_bytes, " bytes belong to ", quoted(source.name));
  }
  add_plane(source, tensor, plane);
  return {};
}

const Dtype* affine_format(uint64_t bits) { return dtype_by_name(concat("AFFINE_", bits)); }

Result<ScaleType> scale_type(const Tensor& scales) {
  if (scales.dtype->name == "F32") return ScaleType::kF32;
  if (scales.dtype->name == "F16") return ScaleType::kF16;
  if (scales.dtype->name == "BF16") return ScaleType::kBF16;
  return fail(Code::kUnsupported, "the scales ", quoted(scales.name), " are ", scales.dtype->name,
              ", only F32, F16 and BF16 are read");
}

Status add_affine_planes(TableSource& source, const Tensor& quants, const Tensor* scales,
                         const Tensor* offsets) {
  const uint32_t bits = source.spec.dtype->block_bytes * 8 / source.spec.dtype->block_size;
  const AffineRowBytes row = affine_row_bytes(source.spec.affine, bits, source.spec.cols);
  ID2VEC_RETURN_IF_ERROR(add_checked_plane(source, quants, 0, row.quants));
  if (scales != nullptr) ID2VEC_RETURN_IF_ERROR(add_checked_plane(source, *scales, 1, row.scales));
  if (offsets != nullptr) ID2VEC_RETURN_IF_ERROR(add_checked_plane(source, *offsets, 2, row.offsets));
  return {};
}

}  // namespace id2vec

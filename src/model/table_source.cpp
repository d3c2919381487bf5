#include "model/table_source.h"

#include "core/text.h"
#include "model/mlx_source.h"
#include "model/planes.h"

namespace id2vec {
namespace {

// Rows, columns and their strides as the file has them.
struct Matrix {
  uint64_t rows = 1, cols = 1, row_stride = 1, col_stride = 1;
};

Result<Matrix> as_matrix(const Tensor& tensor) {
  const std::span<const uint64_t> shape = squeezed(tensor);
  if (shape.size() > 2) {
    return fail(Code::kUnsupported, "tensor ", quoted(tensor.name), " has ", tensor.shape.size(),
                " dimensions, a table has two");
  }
  Matrix matrix;
  if (!shape.empty()) matrix.cols = shape.back();
  if (shape.size() == 2) matrix.rows = shape[0];
  matrix.row_stride = matrix.cols;
  const size_t n = tensor.strides.size();
  if (n >= 1) matrix.col_stride = tensor.strides[n - 1];
  if (n >= 2 && shape.size() == 2) matrix.row_stride = tensor.strides[n - 2];
  if (n >= 1 && shape.size() == 1) matrix.row_stride = std::max<uint64_t>(1, matrix.cols) * matrix.col_stride;
  return matrix;
}

bool is_float_format(const Dtype& dtype) { return dtype.format >= 0 && !dtype.planar; }

Result<TableSource> float_source(const Tensor& tensor, bool transposed) {
  ID2VEC_ASSIGN(const Matrix matrix, as_matrix(tensor));
  ID2VEC_ASSIGN(const uint32_t cols, row_width(tensor, transposed ? matrix.rows : matrix.cols));
  TableSource source{.name = tensor.name};
  source.spec = {.dtype = tensor.dtype, .rows = transposed ? matrix.cols : matrix.rows, .cols = cols};
  if (is_plain(tensor) && !transposed) {
    ID2VEC_RETURN_IF_ERROR(add_checked_plane(
        source, tensor, 0, uint64_t{cols} / tensor.dtype->block_size * tensor.dtype->block_bytes));
    return source;
  }
  add_plane(source, tensor, 0);
  source.conversion = Conversion::kStrided;
  source.layout = {.rows = source.spec.rows,
                   .cols = cols,
                   .row_stride = transposed ? matrix.col_stride : matrix.row_stride,
                   .col_stride = transposed ? matrix.row_stride : matrix.col_stride,
                   .element_bytes = tensor.dtype->block_bytes,
                   .swap_bytes = tensor.big_endian};
  if (tensor.dtype->block_size != 1) return not_plain(tensor);
  if (!source.layout.nests()) {
    return fail(Code::kUnsupported, "the rows of tensor ", quoted(tensor.name),
                " are interleaved, which is not read");
  }
  return source;
}

// Quantized integers ------------------------------------------------------------------------------------------

// Eight-bit floats that somebody scaled into their range: without the scales they are other weights.
Status scaled_f8(const Tensor& tensor, const Tensor& scales) {
  return fail(Code::kUnsupported, "tensor ", quoted(tensor.name), " holds ", tensor.dtype->name,
              " values with the scales ", quoted(scales.name),
              " beside, which is not read; convert the model to BF16");
}

// Row-wise or tensor-wise int8.
Result<TableSource> int8_source(const Tensor& quants, const Tensor* scales, float scale_factor) {
  ID2VEC_ASSIGN(const Matrix matrix, as_matrix(quants));
  ID2VEC_ASSIGN(const uint32_t cols, row_width(quants, matrix.cols));
  TableSource source{.name = quants.name};
  source.spec = {.dtype = affine_format(8),
                 .rows = matrix.rows,
                 .cols = cols,
                 .affine = {.group_size = cols, .is_signed = true, .scale_factor = scale_factor}};
  if (scales == nullptr) {
    source.spec.affine.per_tensor = true;
    std::vector<uint8_t> one(sizeof(float));
    store_le(one.data(), 1.0f);
    source.inline_runs.push_back({1, std::move(one)});
  } else {
    ID2VEC_ASSIGN(source.spec.affine.scale_type, scale_type(*scales));
    source.spec.affine.per_tensor = scales->elements() == 1 && matrix.rows != 1;
  }
  ID2VEC_RETURN_IF_ERROR(add_affine_planes(source, quants, scales, nullptr));
  return source;
}

}  // namespace

Result<TableSource> table_source(const Directory& directory, const Tensor& tensor) {
  const std::string_view module = module_of(tensor.name);
  const auto beside = [&](std::string_view ending) { return directory.find(concat(module, ending)); };
  if (tensor.dtype->name.starts_with("F8_")) {
    for (const std::string_view ending : {".weight_scale", ".weight_scale_inv", ".scales", ".scale"}) {
      if (const Tensor* scales = beside(ending)) return scaled_f8(tensor, *scales);
    }
  }
  if (is_float_format(*tensor.dtype)) return float_source(tensor, false);
  if (tensor.dtype->name == "U32") {
    if (const Tensor* scales = beside(".scales")) return mlx_source(directory, tensor, *scales);
  }
  if (tensor.dtype->name == "I8") {
    for (const std::string_view ending : {".weight_zero_point", ".zero_point", ".zeros", "_zero_point"}) {
      if (const Tensor* zero_points = beside(ending)) {
        return fail(Code::kUnsupported, "tensor ", quoted(tensor.name), " has zero points ",
                    quoted(zero_points->name),
                    " beside, which are not read; quantize it symmetrically, or save it as floats");
      }
    }
    if (const Tensor* maxima = beside(".SCB")) return int8_source(tensor, maxima, 1.0f / 127);
    for (const std::string_view ending : {".weight_scale", ".scales", ".scale", "_scale"}) {
      if (const Tensor* scales = beside(ending)) return int8_source(tensor, scales, 1);
    }
    return int8_source(tensor, nullptr, 1);
  }
  return fail(Code::kUnsupported, "tensor ", quoted(tensor.name), " holds ", tensor.dtype->name,
              " values, which are no weights of a table by themselves");
}

Result<TableSource> transposed_source(const Directory&, const Tensor& tensor) {
  if (is_float_format(*tensor.dtype)) return float_source(tensor, true);
  return not_plain(tensor);
}

TableSource integer_source(const Tensor& tensor) {
  TableSource source{.name = tensor.name};
  source.spec = {.dtype = tensor.dtype, .rows = 1, .cols = static_cast<uint32_t>(tensor.elements())};
  add_plane(source, tensor, 0);
  return source;
}

}  // namespace id2vec

#include "model/table_source.h"

#include <bit>

#include "containers/limits.h"
#include "core/text.h"
#include "formats/affine.h"

namespace id2vec {
namespace {

constexpr uint32_t kMlxWordBits = 32;

Segment whole_tensor(const Tensor& tensor, uint32_t plane) {
  return {.file = tensor.file, .offset = tensor.offset, .bytes = tensor.bytes, .plane = plane, .target = 0};
}

// Adds a tensor's bytes as one plane: from the file, or from the header.
void add_plane(TableSource& source, const Tensor& tensor, uint32_t plane) {
  if (!tensor.inline_bytes.empty()) {
    source.inline_runs.push_back({plane, tensor.inline_bytes});
  } else if (tensor.bytes > 0) {
    source.segments.push_back(whole_tensor(tensor, plane));
  }
}

bool is_plain(const Tensor& tensor) { return tensor.strides.empty() && !tensor.big_endian; }

Status not_plain(const Tensor& tensor) {
  return fail(Code::kUnsupported, "tensor ", quoted(tensor.name), " (", tensor.dtype->name,
              ") is stored in a strided or byte-swapped way, which is not read for quantized tables");
}

Result<uint32_t> width(const Tensor& tensor, uint64_t cols) {
  if (cols == 0 || cols > limits::kRowWeights) {
    return fail(Code::kLimit, "tensor ", quoted(tensor.name), " has rows of ", cols,
                " weights, the limit is ", limits::kRowWeights);
  }
  return static_cast<uint32_t>(cols);
}

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

uint64_t held_bytes(const Tensor& tensor) {
  return tensor.inline_bytes.empty() ? tensor.bytes : tensor.inline_bytes.size();
}

// Appends a plane and checks that the tensor has exactly the bytes that the table will have there.
Status add_checked(TableSource& source, const Tensor& tensor, uint32_t plane, uint64_t row_bytes) {
  if (!is_plain(tensor)) return not_plain(tensor);
  const uint64_t rows = plane > 0 && source.spec.affine.per_tensor ? 1 : source.spec.rows;
  if (checked_mul(rows, row_bytes) != held_bytes(tensor)) {
    return fail(Code::kMalformed, "tensor ", quoted(tensor.name), " has ", held_bytes(tensor), " bytes, but ",
                rows, " rows of ", row_bytes, " bytes belong to ", quoted(source.name));
  }
  add_plane(source, tensor, plane);
  return {};
}

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

Result<TableSource> float_source(const Tensor& tensor, bool transposed) {
  ID2VEC_ASSIGN(const Matrix matrix, as_matrix(tensor));
  ID2VEC_ASSIGN(const uint32_t cols, width(tensor, transposed ? matrix.rows : matrix.cols));
  TableSource source{.name = tensor.name};
  source.spec = {.dtype = tensor.dtype, .rows = transposed ? matrix.cols : matrix.rows, .cols = cols};
  if (is_plain(tensor) && !transposed) {
    ID2VEC_RETURN_IF_ERROR(add_checked(
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

Result<ScaleType> scale_type(const Tensor& scales) {
  if (scales.dtype->name == "F32") return ScaleType::kF32;
  if (scales.dtype->name == "F16") return ScaleType::kF16;
  if (scales.dtype->name == "BF16") return ScaleType::kBF16;
  return fail(Code::kUnsupported, "the scales ", quoted(scales.name), " are ", scales.dtype->name,
              ", only F32, F16 and BF16 are read");
}

// Eight-bit floats that somebody scaled into their range: without the scales they are other weights.
Status scaled_f8(const Tensor& tensor, const Tensor& scales) {
  return fail(Code::kUnsupported, "tensor ", quoted(tensor.name), " holds ", tensor.dtype->name,
              " values with the scales ", quoted(scales.name),
              " beside, which is not read; convert the model to BF16");
}

const Dtype* affine_format(uint64_t bits) { return dtype_by_name(concat("AFFINE_", bits)); }

Status add_planes(TableSource& source, const Tensor& quants, const Tensor* scales, const Tensor* offsets) {
  const uint32_t bits = source.spec.dtype->block_bytes * 8 / source.spec.dtype->block_size;
  const AffineRowBytes row = affine_row_bytes(source.spec.affine, bits, source.spec.cols);
  ID2VEC_RETURN_IF_ERROR(add_checked(source, quants, 0, row.quants));
  if (scales != nullptr) ID2VEC_RETURN_IF_ERROR(add_checked(source, *scales, 1, row.scales));
  if (offsets != nullptr) ID2VEC_RETURN_IF_ERROR(add_checked(source, *offsets, 2, row.offsets));
  return {};
}

std::string_view module_of(std::string_view name) {
  constexpr std::string_view kWeight = ".weight";
  return name.ends_with(kWeight) ? name.substr(0, name.size() - kWeight.size()) : name;
}

// A number that config.json gives for one module, or for all.
double quantization(const Directory& directory, std::string_view module, const char* key) {
  for (const char* section : {"config.quantization.", "config.quantization_config."}) {
    const double own = directory.number(concat(section, module, ".", key), 0);
    const double general = own > 0 ? own : directory.number(concat(section, key), 0);
    if (general > 0 && general <= 1024) return general;
  }
  return 0;
}

// How MLX quantized a module. One with an entry of its own in config.json has that entry's mode, affine by default.
std::string_view mlx_mode(const Directory& directory, std::string_view module) {
  constexpr std::string_view kDefault = "affine";
  for (const char* section : {"config.quantization.", "config.quantization_config."}) {
    const std::string_view own = directory.text(concat(section, module, ".mode"), "");
    if (!own.empty()) return own;
    if (directory.number(concat(section, module, ".bits"), 0) > 0) return kDefault;
    const std::string_view general = directory.text(concat(section, "mode"), "");
    if (!general.empty()) return general;
  }
  return kDefault;
}

// MXFP4 as MLX stores it: eight codes in a word, low bits first, and the exponents of the groups of 32 beside.
Result<TableSource> mxfp4_source(const Tensor& quants, const Tensor& scales) {
  const std::span<const uint64_t> shape = squeezed(quants);
  if (shape.size() != 2 || scales.dtype->name != "U8") {
    return fail(Code::kUnsupported, "tensor ", quoted(quants.name),
                " is packed as mxfp4, but it is no matrix with U8 scales");
  }
  constexpr uint32_t kCodesPerWord = 8, kGroup = 32;
  ID2VEC_ASSIGN(const uint32_t cols, width(quants, shape[1] <= UINT32_MAX ? shape[1] * kCodesPerWord : 0));
  if (!is_plain(quants) || !is_plain(scales)) return not_plain(is_plain(quants) ? scales : quants);
  if (cols % kGroup != 0 || checked_mul(shape[0], cols / kGroup) != held_bytes(scales)) {
    return fail(Code::kMalformed, "tensor ", quoted(quants.name), " has rows of ", cols, " weights and ",
                held_bytes(scales), " scales, but mxfp4 has one for every ", kGroup, " weights");
  }
  TableSource source{.name = quants.name};
  source.spec = {.dtype = dtype_by_name("MXFP4"), .rows = shape[0], .cols = cols};
  source.conversion = Conversion::kMxfp4;
  add_plane(source, quants, 0);
  add_plane(source, scales, 1);
  return source;
}

Result<TableSource> mlx_source(const Directory& directory, const Tensor& quants, const Tensor& scales) {
  const std::string_view module = module_of(quants.name);
  const std::string_view mode = mlx_mode(directory, module);
  if (mode == "mxfp4") return mxfp4_source(quants, scales);
  if (mode != "affine") {
    return fail(Code::kUnsupported, "tensor ", quoted(quants.name), " is quantized in the mode ",
                quoted(mode), " of MLX, which is not read; affine and mxfp4 are");
  }
  const Tensor* biases = directory.find(concat(module, ".biases"));
  const auto bits = static_cast<uint32_t>(quantization(directory, module, "bits"));
  const auto group_size = static_cast<uint32_t>(quantization(directory, module, "group_size"));
  const std::span<const uint64_t> shape = squeezed(quants);
  const Dtype* format = affine_format(bits);
  if (biases == nullptr || shape.size() != 2) {
    return fail(Code::kUnsupported, "tensor ", quoted(quants.name),
                " is packed, but it is no matrix with scales and biases");
  }
  if (bits == 0 || group_size == 0) {
    return fail(Code::kNotFound, "tensor ", quoted(quants.name),
                " is packed in an MLX way, and only config.json (quantization: bits, group_size) tells how; "
                "put it beside");
  }
  if (format == nullptr)
    return fail(Code::kUnsupported, "config.json: quantization to ", bits, " bits is not read");
  ID2VEC_ASSIGN(const uint32_t cols,
                width(quants, shape[1] <= UINT32_MAX ? shape[1] * kMlxWordBits / bits : 0));
  ID2VEC_ASSIGN(const ScaleType type, scale_type(scales));
  TableSource source{.name = quants.name};
  source.spec = {.dtype = format,
                 .rows = shape[0],
                 .cols = cols,
                 .affine = {.group_size = group_size, .scale_type = type, .offsets = Offsets::kBiases}};
  if (biases->dtype != scales.dtype) {
    return fail(Code::kUnsupported, "the biases ", quoted(biases->name),
                " have another dtype than the scales");
  }
  ID2VEC_RETURN_IF_ERROR(add_planes(source, quants, &scales, biases));
  return source;
}

// Row-wise or tensor-wise int8.
Result<TableSource> int8_source(const Tensor& quants, const Tensor* scales, float scale_factor) {
  ID2VEC_ASSIGN(const Matrix matrix, as_matrix(quants));
  ID2VEC_ASSIGN(const uint32_t cols, width(quants, matrix.cols));
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
  ID2VEC_RETURN_IF_ERROR(add_planes(source, quants, scales, nullptr));
  return source;
}

}  // namespace

std::span<const uint64_t> squeezed(const Tensor& tensor) {
  std::span<const uint64_t> shape(tensor.shape);
  while (shape.size() > 1 && shape.front() == 1) shape = shape.subspan(1);
  return shape;
}

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

Result<TableSource> table_source(const Directory& directory, const RoleHint& hint) {
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
  ID2VEC_ASSIGN(const uint32_t cols, width(*tensor, hint.cols));
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
    ID2VEC_RETURN_IF_ERROR(add_planes(source, *tensor, scales, zero_points));
    return source;
  }
  ID2VEC_RETURN_IF_ERROR(add_planes(source, *tensor, scales, nullptr));
  ID2VEC_RETURN_IF_ERROR(add_crossing(source, *zero_points, hint.bits));
  return source;
}

TableSource integer_source(const Tensor& tensor) {
  TableSource source{.name = tensor.name};
  source.spec = {.dtype = tensor.dtype, .rows = 1, .cols = static_cast<uint32_t>(tensor.elements())};
  add_plane(source, tensor, 0);
  return source;
}

}  // namespace id2vec

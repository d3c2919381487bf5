#include "model/mlx_source.h"

#include "core/text.h"
#include "model/planes.h"

namespace id2vec {
namespace {

constexpr uint32_t kWordBits = 32;

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
  ID2VEC_ASSIGN(const uint32_t cols,
                row_width(quants, shape[1] <= UINT32_MAX ? shape[1] * kCodesPerWord : 0));
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

}  // namespace

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
                row_width(quants, shape[1] <= UINT32_MAX ? shape[1] * kWordBits / bits : 0));
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
  ID2VEC_RETURN_IF_ERROR(add_affine_planes(source, quants, &scales, biases));
  return source;
}

}  // namespace id2vec

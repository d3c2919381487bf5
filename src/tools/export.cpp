#include "tools/export.h"

#include "core/text.h"
#include "tools/encoders.h"
#include "tools/gguf_writer.h"
#include "tools/safetensors_writer.h"

namespace id2vec {
namespace {

constexpr std::string_view kArchitecture = "general.architecture";

std::string scale_name(std::string_view name) {
  constexpr std::string_view kWeight = ".weight";
  if (name.ends_with(kWeight)) name.remove_suffix(kWeight.size());
  return concat(name, ".weight_scale");
}

void add(Export& out, std::string name, const Dtype* dtype, std::vector<uint64_t> shape, const Plane& plane) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.bytes = plane.bytes;
  out.directory.tensors.push_back(std::move(tensor));
  out.pieces.push_back({plane.data, plane.bytes});
}

Status add_planar(Export& out, const NamedTable& named) {
  const TableSpec& spec = named.table->spec();
  if (!is_row_int8(spec)) {
    return fail(Code::kUnsupported, "The table ", quoted(named.name), " holds ", spec.dtype->name,
                " with scales apart, which cannot be written as it is; quantize it to another type.");
  }
  const auto& planes = named.table->view().planes;
  add(out, named.name, dtype_by_name("I8"), {spec.rows, spec.cols}, planes[0]);
  add(out, scale_name(named.name), dtype_by_name("F32"), {spec.rows, 1}, planes[1]);
  return {};
}

Status add_table(Export& out, const NamedTable& named) {
  const TableSpec& spec = named.table->spec();
  if (spec.dtype->planar) return add_planar(out, named);
  std::vector<uint64_t> shape{spec.rows, spec.cols};
  if (named.is_vector) shape.erase(shape.begin());
  add(out, named.name, spec.dtype, std::move(shape), named.table->view().planes[0]);
  return {};
}

Status add_integers(Export& out, const NamedIntegers& named) {
  if (named.dtype == nullptr || checked_mul(named.count, named.dtype->block_bytes) != named.bytes.size()) {
    return fail(Code::kInvalidArgument, "The integers ", quoted(named.name), " are ", named.bytes.size(),
                " bytes, which are no ", named.count, " of their type.");
  }
  add(out, named.name, named.dtype, {named.count}, {named.bytes.data(), 0, named.bytes.size()});
  return {};
}

}  // namespace

Result<Export> export_tables(Container container, const Directory& source, std::span<const NamedTable> tables,
                             std::span<const NamedIntegers> integers) {
  Export out;
  out.directory.metadata = source.metadata;
  out.directory.vocabulary = source.vocabulary;
  if (container == Container::kGguf && source.text(kArchitecture, "").empty()) {
    out.directory.metadata[std::string(kArchitecture)] =
        std::string(source.text("config.model_type", "embedding"));
  }
  for (const NamedTable& named : tables) ID2VEC_RETURN_IF_ERROR(add_table(out, named));
  for (const NamedIntegers& named : integers) ID2VEC_RETURN_IF_ERROR(add_integers(out, named));
  const bool gguf = container == Container::kGguf;
  ID2VEC_ASSIGN(out.layout, gguf ? gguf_layout(out.directory) : safetensors_layout(out.directory));
  return out;
}

}  // namespace id2vec

#include "containers/onnx.h"

#include <algorithm>

#include "containers/onnx_graph.h"
#include "containers/onnx_roles.h"
#include "core/text.h"

namespace id2vec {
namespace {

// Fields of ModelProto.
constexpr uint32_t kIrVersion = 1, kModelVersion = 5, kGraph = 7, kLargestField = 30;
constexpr uint64_t kLargestIrVersion = 100;  // 13 in 2026

// In subgraphs a name may come again; the first one, of the outermost graph that has it, counts.
void drop_repeated_names(Directory& directory) {
  std::map<std::string_view, size_t> first;
  std::vector<bool> repeated(directory.tensors.size());
  for (size_t i = 0; i < directory.tensors.size(); ++i) {
    repeated[i] = !first.emplace(directory.tensors[i].name, i).second;
  }
  size_t i = 0;
  std::erase_if(directory.tensors, [&](const Tensor&) { return repeated[i++]; });
}

}  // namespace

// Protocol buffers have no magic: a small version number first, as every writer puts it, then known fields of the
// right kind, and a graph among them.
bool is_onnx(Bytes head, uint64_t file_size) {
  bool has_version = false;
  uint64_t at = 0;
  while (at < head.size()) {
    const std::optional<ProtoField> field = parse_proto_field(head.subspan(at));
    if (!field) return false;
    const bool bytes = field->wire == ProtoField::kBytes;
    if (field->number == kIrVersion) {
      has_version = !bytes && field->value <= kLargestIrVersion;
    } else if (field->number > kLargestField || (!bytes && field->number != kModelVersion)) {
      return false;
    }
    at += field->header;
    if (!has_version || (bytes && field->value > file_size - at)) return false;
    if (field->number == kGraph) return bytes;
    if (bytes) at += field->value;
  }
  return false;
}

Result<Directory> read_onnx(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const uint64_t size, files.size(file));
  Directory directory;
  directory.container = "ONNX";
  directory.files.emplace_back(file);
  ProtoFile proto(files, file);
  OnnxTensors tensors(files, proto, directory);
  OnnxGraph graph;
  for (ProtoRange rest{0, size}; rest.length > 0;) {
    ProtoRange payload;
    ID2VEC_ASSIGN(const ProtoField field, proto.next(rest, payload));
    if (field.number != kGraph || field.wire != ProtoField::kBytes) continue;
    ID2VEC_RETURN_IF_ERROR(read_onnx_graph(proto, payload, tensors, graph));
  }
  drop_repeated_names(directory);
  find_onnx_roles(graph, tensors, directory);
  if (!directory.tensors.empty()) return directory;
  return fail(Code::kUnsupported, directory.skipped.empty() ? concat(file, ": this ONNX model has no weights")
                                                            : directory.skipped.front());
}

}  // namespace id2vec

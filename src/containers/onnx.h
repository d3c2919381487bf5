// ONNX models: a protocol buffer whose graph holds the weights ("initializers") and the operators that use them.
//
//   ModelProto { 7: graph }   GraphProto { 1: node…, 5: initializer…, 11: input…, 12: output… }
//   TensorProto { 1: dims…, 2: type, 8: name, 9: raw_data | 4, 5, 7, 10, 11: typed fields | 13: external data… }
//
// The walk goes from field to field by byte ranges and never reads raw_data. What the operators say about roles
// becomes Directory::hints. Subgraphs of If (merged decoders) are walked like the graph itself.
// Source: onnx/onnx.proto, docs/ExternalData.md.
#pragma once

#include "containers/reader.h"

namespace id2vec {

bool is_onnx(Bytes head, uint64_t file_size);
Result<Directory> read_onnx(FileSet& files, std::string_view file);

}  // namespace id2vec

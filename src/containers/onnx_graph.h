// The operators of an ONNX graph, as far as roles need them. Names point into the FileSet's bytes.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "containers/onnx_tensor.h"
#include "containers/proto_file.h"

namespace id2vec {

struct OnnxAttribute {
  std::string_view name;
  int64_t integer = 0;
  float number = 0;
  std::vector<int64_t> integers;
};

struct OnnxNode {
  std::string_view op;
  std::vector<std::string_view> inputs, outputs;  // an input that is left out is empty
  std::vector<OnnxAttribute> attributes;

  std::string_view input(size_t i) const { return i < inputs.size() ? inputs[i] : std::string_view(); }
  int64_t integer(std::string_view name, int64_t fallback) const;
  float number(std::string_view name, float fallback) const;
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;                    // those of subgraphs too
  std::vector<std::string_view> inputs, outputs;  // of the outermost graph, then of its subgraphs

  // Fills `producers` and `consumers` from the nodes.
  void index();
  const OnnxNode* producer(std::string_view value) const;
  // The nodes that take this value as an input, each once per use.
  std::vector<const OnnxNode*> consumers(std::string_view value) const;

 private:
  std::map<std::string_view, size_t> producers_;
  std::multimap<std::string_view, size_t> consumers_;
};

// Walks the GraphProto at `range`: initializers (and the values of Constant nodes) go to `tensors`, operators to
// `graph`. kLimit past limits::kOnnxParts operators or limits::kOnnxDepth nested graphs.
Status read_onnx_graph(ProtoFile& proto, ProtoRange range, OnnxTensors& tensors, OnnxGraph& graph);

}  // namespace id2vec

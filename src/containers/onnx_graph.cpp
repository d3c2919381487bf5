#include "containers/onnx_graph.h"

#include <algorithm>
#include <bit>

#include "containers/limits.h"
#include "core/text.h"

namespace id2vec {
namespace {

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class Walker {
 public:
  Walker(ProtoFile& proto, OnnxTensors& tensors, OnnxGraph& graph)
      : proto_(proto), tensors_(tensors), graph_(graph) {}

  Status walk_graph(ProtoRange rest, size_t depth) {
    enum Field : uint32_t { kNode = 1, kInitializer = 5, kInput = 11, kOutput = 12 };
    if (depth > limits::kOnnxDepth) {
      return fail(Code::kLimit, proto_.name(), ": graphs are nested more than ", limits::kOnnxDepth, " deep");
    }
    while (rest.length > 0) {
      ProtoRange payload;
      ID2VEC_ASSIGN(const ProtoField field, proto_.next(rest, payload));
      if (field.wire != ProtoField::kBytes) continue;
      switch (field.number) {
        case kNode: ID2VEC_RETURN_IF_ERROR(walk_node(payload, depth)); break;
        case kInitializer: ID2VEC_RETURN_IF_ERROR(tensors_.add(payload, {})); break;
        case kInput: ID2VEC_RETURN_IF_ERROR(add_value(payload, graph_.inputs)); break;
        case kOutput: ID2VEC_RETURN_IF_ERROR(add_value(payload, graph_.outputs)); break;
        default: break;
      }
    }
    return {};
  }

 private:
  Status add_value(ProtoRange rest, std::vector<std::string_view>& names) {
    while (rest.length > 0) {
      ProtoRange payload;
      ID2VEC_ASSIGN(const ProtoField field, proto_.next(rest, payload));
      if (field.number != 1 || field.wire != ProtoField::kBytes) continue;
      ID2VEC_ASSIGN(const Bytes name, proto_.read(payload));
      names.push_back(text_of(name));
    }
    return {};
  }

  Status walk_node(ProtoRange rest, size_t depth) {
    enum Field : uint32_t { kInput = 1, kOutput = 2, kOp = 4, kAttribute = 5 };
    if (graph_.nodes.size() >= limits::kOnnxParts) {
      return fail(Code::kLimit, proto_.name(), ": more than ", limits::kOnnxParts, " operators");
    }
    OnnxNode node;
    while (rest.length > 0) {
      ProtoRange payload;
      ID2VEC_ASSIGN(const ProtoField field, proto_.next(rest, payload));
      if (field.wire != ProtoField::kBytes) continue;
      if (field.number == kAttribute) {
        ID2VEC_RETURN_IF_ERROR(walk_attribute(payload, depth, node));
      } else if (field.number == kInput || field.number == kOutput || field.number == kOp) {
        ID2VEC_ASSIGN(const Bytes name, proto_.read(payload));
        if (field.number == kOp) {
          node.op = text_of(name);
        } else {
          (field.number == kInput ? node.inputs : node.outputs).push_back(text_of(name));
        }
      }
    }
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  Status walk_attribute(ProtoRange rest, size_t depth, OnnxNode& node) {
    enum Field : uint32_t {
      kName = 1,
      kFloat = 2,
      kInt = 3,
      kTensor = 5,
      kGraph = 6,
      kInts = 8,
      kGraphs = 11
    };
    OnnxAttribute attribute;
    while (rest.length > 0) {
      ProtoRange payload;
      ID2VEC_ASSIGN(const ProtoField field, proto_.next(rest, payload));
      const bool bytes = field.wire == ProtoField::kBytes;
      if (field.number == kName && bytes) {
        ID2VEC_ASSIGN(const Bytes name, proto_.read(payload));
        attribute.name = text_of(name);
      } else if (field.number == kFloat && field.wire == ProtoField::kFixed32) {
        attribute.number = std::bit_cast<float>(static_cast<uint32_t>(field.value));
      } else if (field.number == kInt && !bytes) {
        attribute.integer = static_cast<int64_t>(field.value);
      } else if (field.number == kInts && !bytes) {
        attribute.integers.push_back(static_cast<int64_t>(field.value));
      } else if (field.number == kInts) {
        ID2VEC_ASSIGN(Bytes packed, proto_.read(payload));
        while (const std::optional<uint64_t> value = take_varint(packed)) {
          attribute.integers.push_back(static_cast<int64_t>(*value));
        }
      } else if (field.number == kTensor && bytes) {
        // The value of a Constant node, known by the name of its output.
        if (!node.outputs.empty()) ID2VEC_RETURN_IF_ERROR(tensors_.add(payload, node.outputs.front()));
      } else if ((field.number == kGraph || field.number == kGraphs) && bytes) {
        ID2VEC_RETURN_IF_ERROR(walk_graph(payload, depth + 1));
      }
    }
    node.attributes.push_back(std::move(attribute));
    return {};
  }

  ProtoFile& proto_;
  OnnxTensors& tensors_;
  OnnxGraph& graph_;
};

const OnnxAttribute* find(const OnnxNode& node, std::string_view name) {
  for (const OnnxAttribute& attribute : node.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

}  // namespace

int64_t OnnxNode::integer(std::string_view name, int64_t fallback) const {
  const OnnxAttribute* attribute = find(*this, name);
  return attribute == nullptr ? fallback : attribute->integer;
}

float OnnxNode::number(std::string_view name, float fallback) const {
  const OnnxAttribute* attribute = find(*this, name);
  return attribute == nullptr ? fallback : attribute->number;
}

void OnnxGraph::index() {
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string_view output : nodes[i].outputs) producers_.emplace(output, i);
    for (const std::string_view input : nodes[i].inputs) consumers_.emplace(input, i);
  }
}

const OnnxNode* OnnxGraph::producer(std::string_view value) const {
  const auto found = producers_.find(value);
  return value.empty() || found == producers_.end() ? nullptr : &nodes[found->second];
}

std::vector<const OnnxNode*> OnnxGraph::consumers(std::string_view value) const {
  std::vector<const OnnxNode*> all;
  const auto [begin, end] = consumers_.equal_range(value);
  for (auto it = begin; it != end; ++it) all.push_back(&nodes[it->second]);
  return all;
}

Status read_onnx_graph(ProtoFile& proto, ProtoRange range, OnnxTensors& tensors, OnnxGraph& graph) {
  ID2VEC_RETURN_IF_ERROR(Walker(proto, tensors, graph).walk_graph(range, 0));
  graph.index();
  return {};
}

}  // namespace id2vec

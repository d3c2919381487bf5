#include "containers/onnx_roles.h"

#include <algorithm>

namespace id2vec {
namespace {

// Steps along a chain of operators before the search gives up.
constexpr int kLongestChain = 32;

bool is_any(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}
bool is_integer(const Tensor& tensor) { return tensor.dtype->format < 0; }
uint64_t ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

class RoleFinder {
 public:
  RoleFinder(const OnnxGraph& graph, const OnnxTensors& tensors, Directory& directory)
      : graph_(graph), tensors_(tensors), directory_(directory) {
    for (const Tensor& tensor : directory.tensors) by_name_.emplace(tensor.name, &tensor);
  }

  void run() {
    for (const OnnxNode& node : graph_.nodes) visit_input_side(node);
    for (const std::string_view output : graph_.outputs) visit_output(output);
    // Of several tables that ids look up, the one as wide as the head is the embedding.
    for (size_t i = 1; i < embeddings_.size(); ++i) {
      if (has_head(embeddings_[0].hint)) break;
      if (has_head(embeddings_[i].hint)) std::swap(embeddings_[0], embeddings_[i]);
    }
    for (Embedding& embedding : embeddings_) add(std::move(embedding.hint));
    if (directory_.hints.empty()) return;
    const uint64_t rows = directory_.hints[0].rows, cols = directory_.hints[0].cols;
    for (Head& head : heads_) {
      if (!fits(head.hint, rows, cols)) continue;
      add(std::move(head.hint));
      if (!head.bias.empty()) add_vector("head_bias", head.bias, rows);
    }
    for (RoleHint& hint : others_) {
      if (hint.cols == cols) add(std::move(hint));
    }
    add_norm(cols);
  }

 private:
  struct Embedding {
    RoleHint hint;
    std::string_view output;  // the looked-up rows
  };
  struct Head {
    RoleHint hint;
    std::string_view bias;
  };

  const Tensor* tensor(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  // A head may have other rows than the embedding (padding), but hardly half of them: a classifier has few.
  static bool fits(const RoleHint& head, uint64_t rows, uint64_t cols) {
    return head.cols == cols && head.rows >= rows / 2 && head.rows <= rows * 2;
  }
  bool has_head(const RoleHint& embedding) const {
    return std::any_of(heads_.begin(), heads_.end(),
                       [&](const Head& head) { return fits(head.hint, embedding.rows, embedding.cols); });
  }

  void add(RoleHint hint) {
    for (const RoleHint& known : directory_.hints) {
      if (known.role == hint.role && known.tensor == hint.tensor) return;
    }
    directory_.hints.push_back(std::move(hint));
  }
  void add_vector(std::string_view role, std::string_view name, uint64_t length) {
    const Tensor* vector = tensor(name);
    if (vector == nullptr || is_integer(*vector) || vector->elements() != length) return;
    RoleHint hint;
    hint.role = role;
    hint.tensor = name;
    hint.rows = 1;
    hint.cols = length;
    add(std::move(hint));
  }

  // Weights -----------------------------------------------------------------------------------------------------
  // The table behind `value`, seen through casts, transposes and dequantization; `transposed` says whether the
  // caller wants the transpose of that value.
  std::optional<RoleHint> weight(std::string_view value, bool transposed) const {
    for (int step = 0; step < kLongestChain; ++step) {
      if (const Tensor* table = tensor(value)) return plain(*table, transposed);
      const OnnxNode* node = graph_.producer(value);
      if (node == nullptr) return std::nullopt;
      if (node->op == "DequantizeLinear")
        return transposed ? std::nullopt : dequantized(*node, node->input(0));
      if (node->op == "Transpose") {
        transposed = !transposed;
      } else if (!is_any(node->op, {"Cast", "Identity"})) {
        return std::nullopt;
      }
      value = node->input(0);
    }
    return std::nullopt;
  }

  static std::optional<RoleHint> plain(const Tensor& table, bool transposed) {
    if (is_integer(table) || table.shape.size() != 2) return std::nullopt;
    RoleHint hint;
    hint.tensor = table.name;
    hint.transposed = transposed;
    hint.rows = table.shape[transposed ? 1 : 0];
    hint.cols = table.shape[transposed ? 0 : 1];
    return hint;
  }

  // What every quantized table has: integers [V, d] of 8 bits, or packed into bytes.
  std::optional<RoleHint> integers(std::string_view name, uint32_t bits) const {
    const Tensor* table = tensor(name);
    if (table == nullptr || table->shape.size() < 2 || !is_any(table->dtype->name, {"U8", "I8"}))
      return std::nullopt;
    RoleHint hint;
    hint.tensor = table->name;
    hint.bits = bits;
    hint.is_signed = table->dtype->name == "I8";
    hint.rows = table->shape[0];
    if (hint.rows == 0 || table->bytes / hint.rows > UINT32_MAX / 8) return std::nullopt;
    hint.cols = table->bytes / hint.rows * 8 / bits;
    if (const OnnxPacked packed = tensors_.packed(name); packed.bits != 0) {
      hint.bits = packed.bits;
      hint.is_signed = packed.is_signed;
      hint.cols = table->bytes / hint.rows * 8 / packed.bits;
    }
    return hint;
  }

  // Takes scales and zero points into the hint, if they are as many as the groups.
  bool set_scales(RoleHint& hint, std::string_view scales, std::string_view zero_points,
                  uint32_t group_size) const {
    const Tensor* scale = tensor(scales);
    if (scale == nullptr || is_integer(*scale)) return false;
    const uint64_t groups = group_size == 0 ? 1 : hint.cols / group_size;
    if (group_size != 0 && hint.cols % group_size != 0) return false;
    hint.per_tensor = scale->elements() == 1 && hint.rows > 1;
    const uint64_t rows = hint.per_tensor ? 1 : hint.rows;
    const std::optional<uint64_t> count = checked_mul(rows, groups);
    if (!count || scale->elements() != *count || (hint.per_tensor && groups != 1)) return false;
    hint.scales = scales;
    hint.group_size = group_size;
    if (zero_points.empty()) return true;
    const Tensor* zero = tensor(zero_points);
    if (zero == nullptr || !is_any(zero->dtype->name, {"U8", "I8"})) return false;
    if (zero->bytes != rows * ceil_div(groups * hint.bits, 8)) return false;
    hint.zero_points = zero_points;
    return true;
  }

  std::optional<RoleHint> dequantized(const OnnxNode& node, std::string_view quants) const {
    std::optional<RoleHint> hint = integers(quants, 8);
    if (!hint) return std::nullopt;
    const int64_t group = node.integer("block_size", 0), axis = node.integer("axis", 1);
    if (group < 0 || group > INT32_MAX) return std::nullopt;
    const Tensor* scale = tensor(node.input(1));
    const bool one = scale != nullptr && scale->elements() == 1;
    // Scales along axis 1 belong to columns, unless they belong to blocks of a row.
    if (!one && (group == 0 ? axis != 0 : axis != 1)) return std::nullopt;
    if (!set_scales(*hint, node.input(1), node.input(2), one ? 0 : static_cast<uint32_t>(group)))
      return std::nullopt;
    return hint;
  }

  std::optional<RoleHint> block_quantized(const OnnxNode& node) const {
    const int64_t group = node.integer("block_size", 128), axis = node.integer("quantize_axis", 1);
    const int64_t bits = node.integer("bits", 4);
    if (node.integer("gather_axis", 0) != 0 || (axis != 1 && axis != -1)) return std::nullopt;
    if (group <= 0 || group > INT32_MAX || (bits != 2 && bits != 4 && bits != 8)) return std::nullopt;
    std::optional<RoleHint> hint = integers(node.input(0), static_cast<uint32_t>(bits));
    if (!hint) return std::nullopt;
    // Bytes follow MatMulNBits' convention, 4-bit types that of DequantizeLinear.
    if (tensors_.packed(node.input(0)).bits == 0) hint->zero_point = 1 << (bits - 1);
    if (!set_scales(*hint, node.input(2), node.input(3), static_cast<uint32_t>(group))) return std::nullopt;
    return hint;
  }

  std::optional<RoleHint> matmul_n_bits(const OnnxNode& node) const {
    const int64_t group = node.integer("block_size", 0), bits = node.integer("bits", 4);
    if (group <= 0 || group > INT32_MAX || (bits != 2 && bits != 4 && bits != 8)) return std::nullopt;
    if (!node.input(4).empty()) return std::nullopt;  // g_idx reorders the columns
    std::optional<RoleHint> hint = integers(node.input(1), static_cast<uint32_t>(bits));
    // A last block that is not full makes rows longer than d.
    if (!hint || static_cast<int64_t>(hint->cols) != node.integer("K", 0) ||
        static_cast<int64_t>(hint->rows) != node.integer("N", 0)) {
      return std::nullopt;
    }
    hint->zero_point = 1 << (bits - 1);
    if (!set_scales(*hint, node.input(2), node.input(3), static_cast<uint32_t>(group))) return std::nullopt;
    return hint;
  }

  // The input side ----------------------------------------------------------------------------------------------
  // The role of a table by where the index of its Gather comes from.
  std::string_view role_of_index(std::string_view value) const {
    for (int step = 0; step < kLongestChain; ++step) {
      if (std::find(graph_.inputs.begin(), graph_.inputs.end(), value) != graph_.inputs.end() &&
          !tensor(value)) {
        if (value.find("position") != value.npos) return "positions";
        if (value.find("token_type") != value.npos || value.find("segment") != value.npos)
          return "token_types";
        return "embedding";
      }
      const OnnxNode* node = graph_.producer(value);
      if (node == nullptr) break;
      if (!is_any(node->op, {"Cast", "Identity", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Slice",
                             "Expand", "Transpose", "Clip", "Where", "Concat"})) {
        break;
      }
      value = node->input(node->op == "Where" ? 1 : 0);
    }
    return "positions";
  }

  void visit_input_side(const OnnxNode& node) {
    if (node.op == "EmbedLayerNormalization") return visit_embed_layer_norm(node);
    if (node.op == "GatherBlockQuantized") return add_lookup(block_quantized(node), node);
    if (node.op != "Gather" || node.integer("axis", 0) != 0) return;
    if (std::optional<RoleHint> table = weight(node.input(0), false))
      return add_lookup(std::move(table), node);
    // Integers are gathered first and dequantized after.
    for (const OnnxNode* next :
         graph_.consumers(node.outputs.empty() ? std::string_view() : node.outputs[0])) {
      if (next->op != "DequantizeLinear") continue;
      std::optional<RoleHint> table = dequantized(*next, node.input(0));
      if (table && table->per_tensor) return add_lookup(std::move(table), *next, node.input(1));
    }
  }

  void add_lookup(std::optional<RoleHint> table, const OnnxNode& node, std::string_view index = {}) {
    if (!table || node.outputs.empty()) return;
    table->role = role_of_index(index.empty() ? node.input(1) : index);
    if (table->role == "embedding") {
      embeddings_.push_back({std::move(*table), node.outputs[0]});
    } else {
      others_.push_back(std::move(*table));
    }
  }

  void visit_embed_layer_norm(const OnnxNode& node) {
    std::optional<RoleHint> words = weight(node.input(2), false);
    if (!words) return;
    words->role = "embedding";
    embeddings_.push_back({std::move(*words), {}});
    if (std::optional<RoleHint> positions = weight(node.input(3), false)) {
      positions->role = "positions";
      others_.push_back(std::move(*positions));
    }
    if (std::optional<RoleHint> types = weight(node.input(4), false)) {
      types->role = "token_types";
      others_.push_back(std::move(*types));
    }
    // The third output is the sum before the norm: where somebody takes it, the norm is that of a first block
    // with a residual path (GPT-2).
    if (node.outputs.size() > 2 && !graph_.consumers(node.outputs[2]).empty()) return;
    set_norm(node, node.input(5), node.input(6), 1e-12f);
  }

  void set_norm(const OnnxNode& node, std::string_view weight, std::string_view bias, float epsilon) {
    norm_weight_ = weight;
    norm_bias_ = bias;
    norm_epsilon_ = node.number("epsilon", epsilon);
  }

  // Follows the looked-up rows as long as one operator alone takes them: in a model whose first block has a
  // residual path, the sum has two takers, and its norm belongs to the block.
  void add_norm(uint64_t cols) {
    std::string_view value = embeddings_.empty() ? std::string_view() : embeddings_[0].output;
    for (int step = 0; step < kLongestChain && !value.empty(); ++step) {
      const std::vector<const OnnxNode*> takers = graph_.consumers(value);
      if (takers.size() != 1 || takers[0]->outputs.empty()) break;
      if (takers[0]->op == "LayerNormalization") {
        set_norm(*takers[0], takers[0]->input(1), takers[0]->input(2), 1e-5f);
        break;
      }
      if (!is_any(takers[0]->op, {"Add", "Cast", "Identity"})) break;
      value = takers[0]->outputs[0];
    }
    if (norm_weight_.empty()) return;
    add_vector("norm_weight", norm_weight_, cols);
    if (!norm_bias_.empty()) add_vector("norm_bias", norm_bias_, cols);
    directory_.metadata["norm_epsilon"] = static_cast<double>(norm_epsilon_);
  }

  // The output side ---------------------------------------------------------------------------------------------
  void visit_output(std::string_view value) {
    std::string_view bias;
    for (int step = 0; step < kLongestChain; ++step) {
      const OnnxNode* node = graph_.producer(value);
      if (node == nullptr) return;
      if (node->op == "MatMul") return add_head(weight(node->input(1), true), bias);
      if (node->op == "MatMulNBits")
        return add_head(matmul_n_bits(*node), node->input(5).empty() ? bias : node->input(5));
      if (node->op == "Gemm" && node->number("alpha", 1) == 1 && node->integer("transA", 0) == 0) {
        return add_head(weight(node->input(1), node->integer("transB", 0) == 0),
                        node->input(2).empty() ? bias : node->input(2));
      }
      if (!is_any(node->op, {"Add", "Mul", "Div", "Tanh", "Cast", "Identity", "Reshape", "Squeeze"})) return;
      // The value is the operand that is no constant.
      const bool first = tensor(node->input(0)) == nullptr;
      if (node->op == "Add" && bias.empty()) bias = node->input(first ? 1 : 0);
      value = node->input(first ? 0 : 1);
    }
  }

  void add_head(std::optional<RoleHint> table, std::string_view bias) {
    if (!table) return;
    table->role = "head";
    heads_.push_back({std::move(*table), bias});
  }

  const OnnxGraph& graph_;
  const OnnxTensors& tensors_;
  Directory& directory_;
  std::map<std::string_view, const Tensor*> by_name_;
  std::vector<Embedding> embeddings_;
  std::vector<Head> heads_;
  std::vector<RoleHint> others_;
  std::string_view norm_weight_, norm_bias_;
  float norm_epsilon_ = 0;
};

}  // namespace

void find_onnx_roles(const OnnxGraph& graph, const OnnxTensors& tensors, Directory& directory) {
  RoleFinder(graph, tensors, directory).run();
}

}  // namespace id2vec

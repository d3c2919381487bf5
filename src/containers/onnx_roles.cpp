#include "containers/onnx_roles.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <type_traits>

#include "containers/limits.h"
#include "core/text.h"

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
    inputs_.insert(graph.inputs.begin(), graph.inputs.end());
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

  const Tensor* tensor(std::string_view name) const { return directory_.find(name); }

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
      if (node->op == "DequantizeLinear") return dequantized(*node, node->input(0), transposed);
      if (node->op == "Transpose") {
        transposed = !transposed;
      } else if (!is_any(node->op, {"Cast", "Identity"})) {
        return std::nullopt;
      }
      value = node->input(0);
    }
    return std::nullopt;
  }

  static RoleHint matrix(const Tensor& table, bool transposed) {
    RoleHint hint;
    hint.tensor = table.name;
    hint.transposed = transposed;
    hint.rows = table.shape[transposed ? 1 : 0];
    hint.cols = table.shape[transposed ? 0 : 1];
    return hint;
  }

  static std::optional<RoleHint> plain(const Tensor& table, bool transposed) {
    if (is_integer(table) || table.shape.size() != 2) return std::nullopt;
    return matrix(table, transposed);
  }

  // The first reason counts: what follows from it would only confuse.
  static void refuse(RoleHint& hint, std::string_view reason) {
    if (hint.problem.empty()) hint.problem = concat("tensor ", quoted(hint.tensor), " ", reason);
  }

  // What every quantized table has: integers [V, d] (or [d, V]) of 8 bits, or packed into bytes.
  std::optional<RoleHint> integers(std::string_view name, uint32_t bits, bool transposed) const {
    const Tensor* table = tensor(name);
    if (table == nullptr) return std::nullopt;
    if (!is_integer(*table)) return scaled_floats(*table, transposed);
    if (!is_any(table->dtype->name, {"U8", "I8"})) return std::nullopt;
    const OnnxPacked* packed = tensors_.packed(name);
    const std::vector<uint64_t>& shape = packed != nullptr ? packed->shape : table->shape;
    if (shape.size() < 2 || shape[0] == 0 || table->bytes / shape[0] > UINT32_MAX / 8) return std::nullopt;
    RoleHint hint;
    hint.tensor = table->name;
    hint.bits = packed != nullptr ? packed->bits : bits;
    hint.is_signed = packed != nullptr ? packed->is_signed : table->dtype->name == "I8";
    hint.rows = shape[0];
    hint.cols = table->bytes / hint.rows * 8 / hint.bits;
    if (packed != nullptr) {
      hint.cols = std::accumulate(shape.begin() + 1, shape.end(), uint64_t{1}, std::multiplies<>());
      if (hint.cols * hint.bits % 8 != 0) refuse(hint, "packs its integers across rows, which is not read");
    }
    if (!transposed) return hint;
    hint.transposed = true;
    std::swap(hint.rows, hint.cols);
    if (hint.bits != 8 || shape.size() != 2) {
      refuse(
          hint,
          "is quantized to fewer than 8 bits and stored transposed, which is not read; export it as [V, d] "
          "or for MatMulNBits");
    }
    return hint;
  }

  // Floats that a dequantizing operator scales: alone they are no weights.
  static std::optional<RoleHint> scaled_floats(const Tensor& table, bool transposed) {
    if (table.shape.size() != 2) return std::nullopt;
    RoleHint hint = matrix(table, transposed);
    refuse(hint, concat("holds ", table.dtype->name, " values with scales, which is not read"));
    return hint;
  }

  // Takes scales and zero points into the hint, if they are as many as the groups.
  void set_scales(RoleHint& hint, std::string_view scales, std::string_view zero_points,
                  uint32_t group_size) const {
    if (!hint.problem.empty()) return;
    const Tensor* scale = tensor(scales);
    if (scale == nullptr || is_integer(*scale)) return refuse(hint, "has no float scales in the file");
    if (group_size != 0 && hint.cols % group_size != 0) {
      return refuse(hint, concat("has rows of ", hint.cols, " weights, which end inside a block of ",
                                 group_size, "; that is not read"));
    }
    const uint64_t groups = group_size == 0 ? 1 : hint.cols / group_size;
    hint.per_tensor = scale->elements() == 1 && hint.rows > 1;
    const uint64_t rows = hint.per_tensor ? 1 : hint.rows;
    const std::optional<uint64_t> count = checked_mul(rows, groups);
    if (!count || scale->elements() != *count || (hint.per_tensor && groups != 1)) {
      return refuse(
          hint, concat("has ", scale->elements(), " scales for ", hint.rows, " rows of ", groups, " blocks"));
    }
    hint.scales = scales;
    hint.group_size = group_size;
    if (!zero_points.empty()) set_zero_points(hint, zero_points, rows, groups);
  }

  // Zero points of a packed type are one stream over the whole tensor, as every tensor of such a type is. Those that
  // an operator packs into bytes by itself start each row at a byte.
  void set_zero_points(RoleHint& hint, std::string_view name, uint64_t rows, uint64_t groups) const {
    const Tensor* zero = tensor(name);
    if (zero == nullptr) return refuse(hint, "has no zero points in the file");
    if (!is_any(zero->dtype->name, {"U8", "I8"})) {
      return refuse(hint, concat("has ", zero->dtype->name,
                                 " zero points, which are not read; quantize it with integer zero points, or "
                                 "symmetrically"));
    }
    const OnnxPacked* packed = tensors_.packed(name);
    if (packed != nullptr && (packed->bits != hint.bits || packed->is_signed != hint.is_signed)) {
      return refuse(hint, "has zero points of another type than its integers");
    }
    const uint64_t row_bytes = ceil_div(groups * hint.bits, 8);
    const uint64_t expected = packed != nullptr ? ceil_div(rows * groups * hint.bits, 8) : rows * row_bytes;
    if (zero->bytes != expected) {
      return refuse(hint, concat("has ", zero->bytes, " bytes of zero points, but ", expected, " belong to ",
                                 rows, " rows of ", groups, " blocks"));
    }
    hint.zero_points = name;
    hint.zero_points_cross_rows = packed != nullptr && rows > 1 && groups * hint.bits % 8 != 0;
  }

  std::optional<RoleHint> dequantized(const OnnxNode& node, std::string_view quants, bool transposed) const {
    std::optional<RoleHint> hint = integers(quants, 8, transposed);
    if (!hint) return std::nullopt;
    const int64_t group = node.integer("block_size", 0), axis = node.integer("axis", 1);
    const Tensor* scale = tensor(node.input(1));
    const bool one = scale != nullptr && scale->elements() == 1;
    // A scale per row, or per block of a row, in terms of the table that is wanted.
    const int64_t rows_axis = transposed ? 1 : 0, cols_axis = 1 - rows_axis;
    const auto is_axis = [axis](int64_t wanted) { return axis == wanted || axis == wanted - 2; };
    if (group < 0 || group > INT32_MAX || (group != 0 && transposed) ||
        (!one && !is_axis(group == 0 ? rows_axis : cols_axis))) {
      refuse(*hint, "has scales that run along its columns, which is not read; quantize it by row");
    }
    set_scales(*hint, node.input(1), node.input(2), one ? 0 : static_cast<uint32_t>(group));
    return hint;
  }

  static bool is_packed_width(int64_t bits) { return bits == 2 || bits == 4 || bits == 8; }

  std::optional<RoleHint> block_quantized(const OnnxNode& node) const {
    const int64_t group = node.integer("block_size", 128), axis = node.integer("quantize_axis", 1);
    const int64_t bits = node.integer("bits", 4);
    if (!is_packed_width(bits)) return std::nullopt;
    std::optional<RoleHint> hint = integers(node.input(0), static_cast<uint32_t>(bits), false);
    if (!hint) return std::nullopt;
    if (node.integer("gather_axis", 0) != 0 || (axis != 1 && axis != -1) || group <= 0 || group > INT32_MAX) {
      refuse(*hint, "is not quantized in blocks along its rows, which is not read");
    }
    // Bytes follow MatMulNBits' convention, 4-bit types that of DequantizeLinear.
    if (tensors_.packed(node.input(0)) == nullptr) hint->zero_point = 1 << (bits - 1);
    set_scales(*hint, node.input(2), node.input(3), static_cast<uint32_t>(group));
    return hint;
  }

  std::optional<RoleHint> matmul_n_bits(const OnnxNode& node) const {
    const int64_t group = node.integer("block_size", 0), bits = node.integer("bits", 4);
    const int64_t rows = node.integer("N", 0), cols = node.integer("K", 0);
    if (rows <= 0 || cols <= 0) return std::nullopt;
    RoleHint unknown;
    unknown.tensor = node.input(1);
    std::optional<RoleHint> hint =
        is_packed_width(bits) ? integers(node.input(1), static_cast<uint32_t>(bits), false) : unknown;
    if (!hint) return std::nullopt;
    if (!is_packed_width(bits)) refuse(*hint, concat("has ", bits, " bits per weight, which is not read"));
    if (!node.input(4).empty()) {
      refuse(*hint,
             "has its columns reordered (g_idx of MatMulNBits), which is not read; quantize it without "
             "activation order");
    }
    if (group <= 0 || group > INT32_MAX || cols % group != 0) {
      refuse(*hint, concat("has rows of ", cols, " weights, which end inside a block of ", group,
                           "; that is not read"));
    } else if (static_cast<int64_t>(hint->cols) != cols || static_cast<int64_t>(hint->rows) != rows) {
      refuse(*hint, concat("has another shape than the [", rows, ", ", cols, "] of its MatMulNBits"));
    }
    hint->rows = static_cast<uint64_t>(rows);
    hint->cols = static_cast<uint64_t>(cols);
    hint->zero_point = 1 << (hint->bits == 0 ? 0 : hint->bits - 1);
    set_scales(*hint, node.input(2), node.input(3), static_cast<uint32_t>(group));
    return hint;
  }

  // The weights of a product in integers, [d, V] with one scale in all or one per id. What the activations are
  // rounded to is not the table's business.
  std::optional<RoleHint> integer_product(std::string_view quants, std::string_view scales,
                                          std::string_view zero_points) const {
    std::optional<RoleHint> hint = integers(quants, 8, true);
    if (hint) set_scales(*hint, scales, zero_points, 0);
    return hint;
  }

  // Behind MatMulInteger stands a product with both scales: the activations' is computed, the weights' is stored.
  std::string_view stored_scale(std::string_view factor) const {
    if (tensor(factor) != nullptr) return factor;
    const OnnxNode* node = graph_.producer(factor);
    if (node == nullptr || node->op != "Mul") return {};
    return tensor(node->input(0)) != nullptr ? node->input(0) : node->input(1);
  }

  // The input side ----------------------------------------------------------------------------------------------
  // The role of a table by where the index of its Gather comes from.
  std::string_view role_of_index(std::string_view value) const {
    for (int step = 0; step < kLongestChain; ++step) {
      if (inputs_.contains(value) && !tensor(value)) {
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
    // Integers are gathered first and dequantized after. (One operator makes a value; of several that claim to, the
    // first counts.)
    const std::string_view gathered = node.outputs.empty() ? std::string_view() : node.outputs[0];
    if (graph_.producer(gathered) != &node) return;
    for (const OnnxNode* next : graph_.consumers(gathered)) {
      if (next->op != "DequantizeLinear") continue;
      std::optional<RoleHint> table = dequantized(*next, node.input(0), false);
      if (table && (table->per_tensor || !table->problem.empty()))
        return add_lookup(std::move(table), *next, node.input(1));
    }
  }

  void add_lookup(std::optional<RoleHint> table, const OnnxNode& node, std::string_view index = {}) {
    if (!table || node.outputs.empty()) return;
    table->role = role_of_index(index.empty() ? node.input(1) : index);
    if (table->role == "embedding") {
      keep(embeddings_, {std::move(*table), node.outputs[0]});
    } else {
      keep(others_, std::move(*table));
    }
  }

  template <class T>
  static void keep(std::vector<T>& candidates, std::type_identity_t<T> candidate) {
    if (candidates.size() < limits::kOnnxCandidates) candidates.push_back(std::move(candidate));
  }

  void visit_embed_layer_norm(const OnnxNode& node) {
    std::optional<RoleHint> words = weight(node.input(2), false);
    if (!words) return;
    words->role = "embedding";
    keep(embeddings_, {std::move(*words), {}});
    if (std::optional<RoleHint> positions = weight(node.input(3), false)) {
      positions->role = "positions";
      keep(others_, std::move(*positions));
    }
    if (std::optional<RoleHint> types = weight(node.input(4), false)) {
      types->role = "token_types";
      keep(others_, std::move(*types));
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
    std::string_view bias, factor;
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
      if (node->op == "MatMulInteger")
        return add_head(integer_product(node->input(1), stored_scale(factor), node->input(3)), bias);
      if (node->op == "DynamicQuantizeMatMul") {
        return add_head(integer_product(node->input(1), node->input(2), node->input(3)),
                        node->input(4).empty() ? bias : node->input(4));
      }
      if (!is_any(node->op, {"Add", "Mul", "Div", "Tanh", "Cast", "Identity", "Reshape", "Squeeze"})) return;
      // The value is the operand that is no constant.
      const bool first = tensor(node->input(0)) == nullptr;
      if (node->op == "Add" && bias.empty()) bias = node->input(first ? 1 : 0);
      if (node->op == "Mul") factor = node->input(first ? 1 : 0);
      value = node->input(first ? 0 : 1);
    }
  }

  void add_head(std::optional<RoleHint> table, std::string_view bias) {
    if (!table) return;
    table->role = "head";
    keep(heads_, {std::move(*table), bias});
  }

  const OnnxGraph& graph_;
  const OnnxTensors& tensors_;
  Directory& directory_;
  std::set<std::string_view> inputs_;  // of the graphs
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

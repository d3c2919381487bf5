#include "model/roles.h"

#include <algorithm>
#include <tuple>

#include "core/text.h"
#include "model/alias.h"
#include "model/hinted_source.h"
#include "model/planes.h"
#include "model/table_source.h"

namespace id2vec {
namespace {

constexpr size_t kListedCandidates = 8;

bool is_float_matrix(const Tensor& tensor) {
  return squeezed(tensor).size() == 2 && tensor.elements() > 0 && tensor.dtype->format >= 0 &&
         !tensor.dtype->planar;
}

bool is_vector(const Tensor& tensor) { return squeezed(tensor).size() <= 1 && tensor.elements() > 0; }

bool is_id_type(const Dtype& dtype) {
  return dtype.name == "I32" || dtype.name == "I64" || dtype.name == "U32";
}

// Shared leading parts of two dotted names, in parts.
size_t common_parts(std::string_view a, std::string_view b) {
  size_t parts = 0;
  for (size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) parts += a[i] == '.';
  return parts;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.file == b.file && a.offset == b.offset && a.bytes == b.bytes && a.inline_bytes.empty() &&
         b.inline_bytes.empty() && a.strides == b.strides && a.bytes > 0;
}

std::string described(const Tensor& tensor) {
  std::string text = concat(quoted(tensor.name), " [");
  for (size_t i = 0; i < tensor.shape.size(); ++i) text += concat(i == 0 ? "" : ", ", tensor.shape[i]);
  return concat(text, "] ", tensor.dtype->name);
}

std::string listed(const std::vector<const Tensor*>& tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size() && i < kListedCandidates; ++i) {
    text += concat(i == 0 ? "" : ", ", described(*tensors[i]));
  }
  if (tensors.size() > kListedCandidates)
    text += concat(" and ", tensors.size() - kListedCandidates, " more");
  return text;
}

class Resolver {
 public:
  Resolver(const OpenOptions& options, ModelPlan& plan)
      : options_(options),
        plan_(plan),
        directory_(plan.directory),
        file_(plan.directory.files.empty() ? std::string_view{} : plan.directory.files[0]) {}

  Status run() {
    ID2VEC_RETURN_IF_ERROR(find_embedding());
    for (const RoleNames& row : role_names()) {
      if (row.form == Form::kTable) continue;
      if (row.form == Form::kHead) {
        ID2VEC_RETURN_IF_ERROR(find_head(row));
      } else if (std::optional<TableSource> source = find(row)) {
        if (row.form == Form::kProjection) hidden_ = source->spec.rows;
        plan_.roles.push_back({std::string(row.role), std::move(*source)});
      }
    }
    return {};
  }

 private:
  uint64_t rows() const { return plan_.roles[0].source.spec.rows; }
  uint64_t cols() const { return plan_.roles[0].source.spec.cols; }

  // Candidates ------------------------------------------------------------------------------------------------

  // The tensor as this form, if it is one.
  std::optional<TableSource> as(Form form, const Tensor& tensor) const {
    const size_t dimensions = squeezed(tensor).size();
    const uint64_t length = is_vector(tensor) ? tensor.elements() : 0;
    switch (form) {
      case Form::kTable:
      case Form::kMatrix: return dimensions == 2 ? plain(tensor) : std::nullopt;
      case Form::kHead: return dimensions == 2 ? as_head(tensor) : std::nullopt;
      case Form::kRows: return dimensions == 2 ? with_cols(plain(tensor)) : std::nullopt;
      case Form::kWidth: return length == cols() || length == hidden_ ? plain(tensor) : std::nullopt;
      case Form::kLogits: return length == head_rows_ ? plain(tensor) : std::nullopt;
      case Form::kProjection: return dimensions == 2 ? as_projection(tensor) : std::nullopt;
      case Form::kHidden: return length == hidden_ ? plain(tensor) : std::nullopt;
      case Form::kToRow:
        return dimensions == 2 && squeezed(tensor)[0] == cols() ? plain(tensor) : std::nullopt;
      case Form::kRowWidth: return length == cols() ? plain(tensor) : std::nullopt;
      case Form::kIntegers: return length > 0 && is_id_type(*tensor.dtype) ? integers(tensor) : std::nullopt;
      case Form::kNumbers: return length > 0 ? plain(tensor) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<TableSource> plain(const Tensor& tensor) const {
    Result<TableSource> source = table_source(directory_, tensor);
    if (!source.ok()) return std::nullopt;
    return std::move(source.value());
  }

  static std::optional<TableSource> integers(const Tensor& tensor) {
    if (tensor.big_endian || !tensor.strides.empty() || tensor.elements() > UINT32_MAX) return std::nullopt;
    return integer_source(tensor);
  }

  std::optional<TableSource> with_cols(std::optional<TableSource> source) const {
    if (source && source->spec.cols != cols() && source->spec.cols != hidden_) source.reset();
    return source;
  }

  std::optional<TableSource> as_projection(const Tensor& tensor) const {
    std::optional<TableSource> source = plain(tensor);
    if (source && source->spec.cols != cols()) source.reset();
    return source;
  }

  // A head may have some rows more or less than the embedding, but not be a classifier of a few classes.
  std::optional<TableSource> as_head(const Tensor& tensor) const {
    std::optional<TableSource> source = plain(tensor);
    if (!source) return std::nullopt;
    const uint64_t stored_rows = source->spec.rows, stored_cols = source->spec.cols;
    const uint64_t difference = stored_rows > rows() ? stored_rows - rows() : rows() - stored_rows;
    if (stored_rows == rows() || (stored_cols == cols() && difference <= std::max<uint64_t>(1, rows() / 8)))
      return source;
    if (stored_cols != rows() || stored_rows != cols()) return std::nullopt;
    Result<TableSource> turned = transposed_source(directory_, tensor);
    if (!turned.ok()) return std::nullopt;
    return std::move(turned.value());
  }

  // Lower is better: near to the embedding, not the decoder's own where there is an encoder's, short.
  auto rank(const Tensor& tensor) const {
    const std::string_view embedding = plan_.roles.empty() ? std::string_view{} : plan_.roles[0].source.name;
    const size_t distance = SIZE_MAX - common_parts(embedding, tensor.name);
    return std::tuple(distance, tensor.name.find("decoder") != std::string::npos,
                      std::count(tensor.name.begin(), tensor.name.end(), '.'));
  }

  // Tensors of the first name that any tensor of the right form has, the best one first.
  std::vector<const Tensor*> matches(const RoleNames& row) const {
    std::vector<const Tensor*> found;
    for (std::string_view names = row.names; !names.empty() && found.empty();) {
      const std::string_view pattern = next_name(names);
      for (const Tensor& tensor : directory_.tensors) {
        if (name_matches(pattern, tensor.name) && as(row.form, tensor)) found.push_back(&tensor);
      }
    }
    const auto best = std::min_element(found.begin(), found.end(),
                                       [&](const Tensor* a, const Tensor* b) { return rank(*a) < rank(*b); });
    if (best != found.end()) std::swap(*best, found.front());
    return found;
  }

  std::optional<TableSource> find(const RoleNames& row) {
    std::string problem;
    if (std::optional<TableSource> hinted = by_hint(row.role, problem)) return hinted;
    if (!problem.empty()) plan_.warnings.push_back(concat(file_, ": ", problem));
    return find_by_name(row);
  }

  std::optional<TableSource> find_by_name(const RoleNames& row) const {
    const std::vector<const Tensor*> found = matches(row);
    return found.empty() ? std::nullopt : as(row.form, *found[0]);
  }

  // The first hint for a role that can be followed; `problem` says why where none can.
  std::optional<TableSource> by_hint(std::string_view role, std::string& problem) const {
    for (const RoleHint& hint : directory_.hints) {
      if (hint.role != role) continue;
      Result<TableSource> source = hinted_source(directory_, hint);
      if (source.ok()) return std::move(source.value());
      problem = source.status().message();
    }
    return std::nullopt;
  }

  // By the caller's choice; what a graph says about that tensor counts.
  Result<TableSource> named(const std::string& name, std::string_view role) const {
    for (const RoleHint& hint : directory_.hints) {
      if (hint.tensor == name && hint.role == role) return hinted_source(directory_, hint);
    }
    for (const RoleHint& hint : directory_.hints) {
      if (hint.tensor == name && hint.bits > 0) return hinted_source(directory_, hint);
    }
    const Tensor* tensor = directory_.find(name);
    if (tensor == nullptr) tensor = by_role(name);
    if (tensor == nullptr) {
      const std::vector<const Tensor*> known = float_matrices();
      return fail(Code::kNotFound, file_, ": there is no tensor ", quoted(name),
                  known.empty() ? "" : concat("; matrices are ", listed(known)));
    }
    if (squeezed(*tensor).size() != 2) {
      return fail(Code::kInvalidArgument, file_, ": tensor ", described(*tensor),
                  " is no matrix, so it is no table");
    }
    return table_source(directory_, *tensor);
  }

  // A role may stand for the tensor that plays it: "per_layer".
  const Tensor* by_role(std::string_view role) const {
    for (const RoleNames& row : role_names()) {
      if (row.role != role || (row.form != Form::kMatrix && row.form != Form::kTable)) continue;
      const std::vector<const Tensor*> found = matches(row);
      return found.empty() ? nullptr : found[0];
    }
    return nullptr;
  }

  std::vector<const Tensor*> float_matrices() const {
    std::vector<const Tensor*> found;
    for (const Tensor& tensor : directory_.tensors) {
      if (is_float_matrix(tensor)) found.push_back(&tensor);
    }
    return found;
  }

  // Embedding -------------------------------------------------------------------------------------------------

  Status find_embedding() {
    ID2VEC_ASSIGN(TableSource source, embedding());
    if (source.spec.rows == 0)
      return fail(Code::kUnsupported, file_, ": the embedding ", quoted(source.name), " has no rows");
    hidden_ = source.spec.cols;
    head_rows_ = source.spec.rows;
    plan_.roles.push_back({"embedding", std::move(source)});
    return {};
  }

  Result<TableSource> embedding() {
    if (!options_.tensor.empty()) return named(options_.tensor, "embedding");
    std::string problem;
    if (std::optional<TableSource> hinted = by_hint("embedding", problem)) return std::move(*hinted);
    if (!problem.empty()) {
      return fail(Code::kUnsupported, file_, ": the embedding cannot be read: ", problem,
                  "; or choose another tensor with `tensor`");
    }
    for (const RoleNames& row : role_names()) {
      if (row.form != Form::kTable && row.form != Form::kHead) continue;
      const std::vector<const Tensor*> found = matches({row.role, Form::kTable, row.names});
      if (found.empty()) continue;
      if (row.form == Form::kHead) note_head_as_embedding(*found[0]);
      note_choice(found);
      return table_source(directory_, *found[0]);
    }
    for (const RoleNames& row : role_names()) {
      if (row.form != Form::kTable) continue;
      const std::string unreadable = unreadable_table(row, 0);
      if (!unreadable.empty())
        return fail(Code::kUnsupported, file_, ": the embedding cannot be read: ", unreadable);
    }
    return only_matrix();
  }

  void note_head_as_embedding(const Tensor& tensor) {
    head_is_embedding_ = true;
    plan_.warnings.push_back(concat(file_, ": there is no embedding beside the head ", quoted(tensor.name),
                                    ", which serves as both (tied models store the table once)"));
  }

  void note_choice(const std::vector<const Tensor*>& found) {
    for (const Tensor* other : found) {
      if (other == found[0] || same_bytes(*other, *found[0])) continue;
      plan_.warnings.push_back(concat(file_, ": ", quoted(found[0]->name),
                                      " was taken for the embedding, but ", quoted(other->name),
                                      " looks like one too; choose with `tensor`"));
      return;
    }
  }

  Result<TableSource> only_matrix() const {
    const std::vector<const Tensor*> found = float_matrices();
    if (found.size() == 1) return table_source(directory_, *found[0]);
    if (found.size() > 1) {
      return fail(Code::kAmbiguous, file_,
                  ": no tensor has a name that embeddings have, and several are matrices: ", listed(found),
                  "; choose one with `tensor`");
    }
    if (directory_.tensors.empty())
      return fail(Code::kNotFound, file_, ": the file holds no tensors", vocabulary_note(), first_skipped());
    std::vector<const Tensor*> all;
    for (const Tensor& tensor : directory_.tensors) all.push_back(&tensor);
    return fail(Code::kNotFound, file_, ": none of the tensors is a matrix of weights: ", listed(all),
                first_skipped());
  }

  std::string vocabulary_note() const {
    const size_t pieces = directory_.vocabulary.size();
    return pieces == 0 ? std::string() : concat(", only a vocabulary of ", pieces, " pieces");
  }

  std::string first_skipped() const {
    return directory_.skipped.empty() ? std::string() : concat(" (", directory_.skipped[0], ")");
  }

  // Head ------------------------------------------------------------------------------------------------------

  Status find_head(const RoleNames& row) {
    plan_.tying = ModelPlan::Tying::kAbsent;
    if (head_is_embedding_ && options_.head.empty()) return {};
    std::optional<TableSource> head;
    std::string problem;
    if (!options_.head.empty()) {
      ID2VEC_ASSIGN(TableSource chosen, named(options_.head, "head"));
      const Tensor* tensor = directory_.find(options_.head);
      std::optional<TableSource> fitting =
          tensor == nullptr || tensor->dtype->format < 0 ? std::nullopt : as_head(*tensor);
      head = fitting ? std::move(*fitting) : std::move(chosen);
    } else if (!(head = by_hint(row.role, problem)) && problem.empty()) {
      head = find_by_name(row);
      if (!head) problem = unreadable_table(row, rows());
    }
    if (!head) {
      if (!problem.empty()) note_problem_of_head(std::move(problem));
      return {};
    }
    head_rows_ = head->spec.rows;
    plan_.tying = tying(plan_.roles[0].source, *head);
    if (plan_.tying != ModelPlan::Tying::kShared) plan_.roles.push_back({"head", std::move(*head)});
    return {};
  }

  // What is wrong with a tensor that has a name of this role and the rows of one (0: any), but is of no format; empty
  // where there is none. Without a look at these, an untied model would pass for a tied one, and the scales beside a
  // packed table for the table.
  std::string unreadable_table(const RoleNames& row, uint64_t rows) const {
    for (std::string_view names = row.names; !names.empty();) {
      const std::string_view pattern = next_name(names);
      const std::string packed = packed_name(pattern);
      for (const Tensor& tensor : directory_.tensors) {
        if (!packed.empty() && name_matches(packed, tensor.name)) {
          return concat("tensor ", quoted(tensor.name),
                        " is packed as GPTQ or AWQ do, which is not read; convert the model to GGUF or MLX");
        }
        if (!name_matches(pattern, tensor.name)) continue;
        const std::span<const uint64_t> shape = squeezed(tensor);
        if (shape.size() != 2 || (rows != 0 && shape[0] != rows)) continue;
        const Result<TableSource> source = table_source(directory_, tensor);
        if (!source.ok()) return source.status().message();
      }
    }
    return {};
  }

  // "….weight" as GPTQ and AWQ call it: "….qweight"; empty for other patterns.
  static std::string packed_name(std::string_view pattern) {
    constexpr std::string_view kWeight = ".weight";
    if (!pattern.ends_with(kWeight)) return {};
    return concat(pattern.substr(0, pattern.size() - kWeight.size()), ".qweight");
  }

  void note_problem_of_head(std::string problem) {
    plan_.tying = ModelPlan::Tying::kUntied;
    plan_.head_problem = concat(file_, ": the head cannot be read, so there are no logits: ", problem,
                                "; or choose another tensor with `head`");
    plan_.warnings.push_back(plan_.head_problem);
  }

  static ModelPlan::Tying tying(const TableSource& embedding, const TableSource& head) {
    using Tying = ModelPlan::Tying;
    const TableSpec &a = embedding.spec, &b = head.spec;
    if (a.dtype != b.dtype || a.rows != b.rows || a.cols != b.cols || !(a.affine == b.affine))
      return Tying::kUntied;
    if (embedding.name == head.name) return Tying::kShared;
    const auto same_range = [](const Segment& x, const Segment& y) {
      return x.file == y.file && x.offset == y.offset && x.bytes == y.bytes;
    };
    const bool same_layout = embedding.conversion == head.conversion &&
                             embedding.layout.row_stride == head.layout.row_stride &&
                             embedding.layout.col_stride == head.layout.col_stride;
    if (same_layout && !embedding.segments.empty() && embedding.inline_runs.empty() &&
        head.inline_runs.empty() &&
        std::equal(embedding.segments.begin(), embedding.segments.end(), head.segments.begin(),
                   head.segments.end(), same_range)) {
      return Tying::kShared;
    }
    return Tying::kCompare;
  }

  const OpenOptions& options_;
  ModelPlan& plan_;
  const Directory& directory_;
  std::string_view file_;
  uint64_t hidden_ = 0;  // d
  uint64_t head_rows_ = 0;
  bool head_is_embedding_ = false;
};

}  // namespace

Status resolve_roles(const OpenOptions& options, ModelPlan& plan) { return Resolver(options, plan).run(); }

uint32_t hidden_width(const ModelPlan& plan) {
  const Role* projection = plan.find("projection");
  return projection != nullptr ? static_cast<uint32_t>(projection->source.spec.rows)
                               : plan.roles[0].source.spec.cols;
}

}  // namespace id2vec

#include "stage/input.h"

#include <algorithm>
#include <optional>

#include "core/text.h"
#include "stage/checks.h"
#include "stage/values.h"

namespace id2vec {
namespace {

constexpr size_t kTileTokens = 32;

// Width of x where types and positions are added and the norm is taken.
size_t middle_width(const Profile& profile, const InputStage& stage) {
  return profile.projection_first ? embed_width(stage) : stage.embedding->spec().cols;
}

Status check_width(const Table* table, size_t width, std::string_view name) {
  if (!table || table->spec().cols == width) return {};
  return fail(Code::kInvalidArgument, "The ", name, " table has rows of width ", table->spec().cols,
              ", but the rows it is added to have width ", width, ".");
}

Status check_stage(const Profile& profile, const InputStage& stage) {
  const size_t middle = middle_width(profile, stage);
  ID2VEC_RETURN_IF_ERROR(check_projection(stage.projection, stage.embedding->spec().cols));
  if (profile.positions == Positions::kLearned) {
    if (!stage.positions) {
      return fail(Code::kNotFound, "The ", quoted(profile.architecture),
                  " architecture adds learned positions, but the file has no position table; "
                  "override profile.positions with \"none\" to go without.");
    }
    ID2VEC_RETURN_IF_ERROR(check_width(stage.positions, middle, "position"));
  }
  ID2VEC_RETURN_IF_ERROR(check_width(stage.token_types, middle, "token type"));
  if (profile.norm != Norm::kNone && stage.norm.weight.empty()) {
    return fail(Code::kNotFound, "The ", quoted(profile.architecture),
                " architecture normalizes its input, but the file has no weight for that norm; "
                "override profile.norm with \"none\" to go without.");
  }
  return check_norm(profile.norm, stage.norm, middle);
}

Status check_call(const InputStage& stage, std::span<const uint32_t> ids, const EmbedOptions& options,
                  std::span<float> out) {
  const size_t tokens = options.shape.tokens();
  ID2VEC_RETURN_IF_ERROR(check_length("ids", ids.size(), tokens, "the shape"));
  ID2VEC_RETURN_IF_ERROR(check_length("out", out.size(), tokens * embed_width(stage), "[ids, width]"));
  if (options.rows.empty()) {
    ID2VEC_RETURN_IF_ERROR(check_below(ids, stage.embedding->spec().rows, "Id", "the vocabulary"));
  } else {
    const size_t values = tokens * stage.embedding->spec().cols;
    ID2VEC_RETURN_IF_ERROR(check_length("rows", options.rows.size(), values, "[ids, row width]"));
  }
  if (const auto mask = options.positions.attention_mask; !mask.empty()) {
    ID2VEC_RETURN_IF_ERROR(check_length("attentionMask", mask.size(), tokens, "one per id"));
  }
  if (options.token_types.empty()) return {};
  if (!stage.token_types) {
    return fail(Code::kInvalidArgument, "tokenTypeIds were given, but the model has no token types.");
  }
  ID2VEC_RETURN_IF_ERROR(check_length("tokenTypeIds", options.token_types.size(), tokens, "one per id"));
  return check_below(options.token_types, stage.token_types->spec().rows, "Token type",
                     "the token type table");
}

void add(float* to, const float* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] += from[i];
}

// Sinusoid rows of every position between the lowest and the highest of a call, where these are no more than the
// tokens themselves: a batch then computes each sine once.
class SinusoidRows {
 public:
  static Result<SinusoidRows> of(Positions kind, size_t width, std::span<const uint32_t> positions) {
    SinusoidRows out;
    out.width_ = width;
    ID2VEC_ASSIGN(out.divisors_, Values<double>::of((width + 1) / 2));
    out.sinusoids_.emplace(kind, out.divisors_.all(), width);
    const auto [lowest, highest] = std::minmax_element(positions.begin(), positions.end());
    out.first_ = *lowest;
    const size_t range = size_t{*highest} - *lowest + 1;
    out.shared_ = range <= positions.size();
    ID2VEC_ASSIGN(out.rows_, Values<float>::of((out.shared_ ? range : 1) * width));
    for (size_t i = 0; out.shared_ && i < range; ++i) {
      out.sinusoids_->row(static_cast<uint32_t>(out.first_ + i), out.rows_.data() + i * width);
    }
    return out;
  }

  const float* row(uint32_t position) {
    if (shared_) return rows_.data() + (position - first_) * width_;
    sinusoids_->row(position, rows_.data());
    return rows_.data();
  }

 private:
  size_t width_ = 0, first_ = 0;
  bool shared_ = false;
  Values<double> divisors_;
  std::optional<Sinusoids> sinusoids_;  // points into divisors_, whose memory does not move with the object
  Values<float> rows_;
};

// One call of embed(), with its working memory.
struct Work {
  const Profile& profile;
  const InputStage& stage;
  Values<uint32_t> positions;
  SinusoidRows sinusoids;
  Values<float> rows;   // a tile of x before the projection
  Values<float> added;  // a tile of position or type rows
  uint32_t zeros[kTileTokens] = {};
};

Status add_table_rows(const Table& table, std::span<const uint32_t> ids, Values<float>& tile, float* x) {
  const size_t values = ids.size() * table.spec().cols;
  ID2VEC_RETURN_IF_ERROR(table.lookup(ids, tile.first(values)));
  add(x, tile.data(), values);
  return {};
}

Status add_types_and_positions(Work& work, std::span<const uint32_t> types, size_t first, size_t count,
                               size_t width, float* x) {
  if (work.stage.token_types) {
    const auto ids =
        types.empty() ? std::span<const uint32_t>(work.zeros, count) : types.subspan(first, count);
    ID2VEC_RETURN_IF_ERROR(add_table_rows(*work.stage.token_types, ids, work.added, x));
  }
  if (work.profile.positions == Positions::kNone) return {};
  const auto positions = work.positions.all().subspan(first, count);
  if (work.profile.positions == Positions::kLearned) {
    return add_table_rows(*work.stage.positions, positions, work.added, x);
  }
  for (size_t i = 0; i < count; ++i) add(x + i * width, work.sinusoids.row(positions[i]), width);
  return {};
}

Status embed_tile(Work& work, std::span<const uint32_t> ids, const EmbedOptions& options, size_t first,
                  size_t count, std::span<float> out) {
  const Profile& profile = work.profile;
  const InputStage& stage = work.stage;
  const size_t row_width = stage.embedding->spec().cols, width = middle_width(profile, stage);
  const std::span<float> rows = stage.projection ? work.rows.first(count * row_width) : out;
  if (options.rows.empty()) {
    ID2VEC_RETURN_IF_ERROR(stage.embedding->lookup(ids.subspan(first, count), rows));
  } else {
    const auto given = options.rows.subspan(first * row_width, count * row_width);
    std::copy(given.begin(), given.end(), rows.begin());
  }
  if (profile.embedding_scale != 1) {
    const float scale = static_cast<float>(profile.embedding_scale);
    for (float& value : rows) value *= scale;
  }
  const bool project_now = stage.projection && profile.projection_first;
  if (project_now) ID2VEC_RETURN_IF_ERROR(project(stage.projection, rows, count, out));
  float* x = project_now ? out.data() : rows.data();
  ID2VEC_RETURN_IF_ERROR(add_types_and_positions(work, options.token_types, first, count, width, x));
  normalize_rows(profile.norm, profile.norm_epsilon, stage.norm, x, count, width);
  if (stage.projection && !project_now) return project(stage.projection, rows, count, out);
  return {};
}

Status prepare_positions(Work& work, std::span<const uint32_t> ids, const EmbedOptions& options) {
  const Positions kind = work.profile.positions;
  if (kind == Positions::kNone || ids.empty()) return {};
  ID2VEC_ASSIGN(work.positions, Values<uint32_t>::of(ids.size()));
  ID2VEC_RETURN_IF_ERROR(
      position_rows(work.profile, ids, options.shape, options.positions, work.positions.all()));
  if (kind == Positions::kLearned) {
    return check_below(work.positions.all(), work.stage.positions->spec().rows, "Position",
                       "the position table");
  }
  const size_t width = middle_width(work.profile, work.stage);
  ID2VEC_ASSIGN(work.sinusoids, SinusoidRows::of(kind, width, work.positions.all()));
  return {};
}

}  // namespace

size_t embed_width(const InputStage& stage) {
  return stage.projection ? stage.projection.output_width() : stage.embedding->spec().cols;
}

Status embed(const Profile& profile, const InputStage& stage, std::span<const uint32_t> ids,
             const EmbedOptions& options, std::span<float> out) {
  ID2VEC_RETURN_IF_ERROR(check_stage(profile, stage));
  ID2VEC_RETURN_IF_ERROR(check_call(stage, ids, options, out));
  Work work{profile, stage, {}, {}, {}, {}};
  ID2VEC_RETURN_IF_ERROR(prepare_positions(work, ids, options));
  if (stage.projection) {
    ID2VEC_ASSIGN(work.rows, Values<float>::of(kTileTokens * stage.embedding->spec().cols));
  }
  if (stage.token_types || profile.positions == Positions::kLearned) {
    ID2VEC_ASSIGN(work.added, Values<float>::of(kTileTokens * middle_width(profile, stage)));
  }
  const size_t width = embed_width(stage);
  for (size_t first = 0; first < ids.size(); first += kTileTokens) {
    const size_t count = std::min(kTileTokens, ids.size() - first);
    ID2VEC_RETURN_IF_ERROR(
        embed_tile(work, ids, options, first, count, out.subspan(first * width, count * width)));
  }
  return {};
}

Status embed_per_layer(const Profile& profile, const Table& table, std::span<const uint32_t> ids,
                       std::span<float> out) {
  const size_t width = table.spec().cols;
  ID2VEC_RETURN_IF_ERROR(check_length("out", out.size(), ids.size() * width, "[ids, layers · width]"));
  uint32_t tile[kTileTokens];
  for (size_t first = 0; first < ids.size(); first += kTileTokens) {
    const size_t count = std::min(kTileTokens, ids.size() - first);
    for (size_t i = 0; i < count; ++i) tile[i] = ids[first + i] < table.spec().rows ? ids[first + i] : 0;
    ID2VEC_RETURN_IF_ERROR(table.lookup({tile, count}, out.subspan(first * width, count * width)));
  }
  const float scale = static_cast<float>(profile.per_layer_scale);
  for (float& value : out) value *= scale;
  return {};
}

}  // namespace id2vec

#include "stage/pool.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "stage/buffer.h"
#include "stage/checks.h"
#include "stage/norm.h"

namespace id2vec {
namespace {

constexpr size_t kTileRows = 32;

size_t bag_start(const PoolOptions& options, size_t bag) {
  return options.offsets.empty() ? bag * options.bag_length : options.offsets[bag];
}
size_t bag_end(std::span<const uint32_t> ids, const PoolOptions& options, size_t bag) {
  if (options.offsets.empty()) return (bag + 1) * options.bag_length;
  return bag + 1 < options.offsets.size() ? options.offsets[bag + 1] : ids.size();
}

Status check_bags(std::span<const uint32_t> ids, const PoolOptions& options) {
  if (options.offsets.empty()) {
    if (ids.empty() || (options.bag_length > 0 && ids.size() % options.bag_length == 0)) return {};
    return fail(Code::kInvalidArgument, ids.size(), " ids do not divide into bags of ", options.bag_length, ".");
  }
  uint32_t last = 0;
  for (size_t b = 0; b < options.offsets.size(); ++b) {
    const uint32_t offset = options.offsets[b];
    if (b == 0 ? offset == 0 : offset >= last && offset <= ids.size()) {
      last = offset;
      continue;
    }
    return fail(Code::kOutOfRange, "Offset ", offset, " of bag ", b, b == 0 ? " has to be 0." : " has to lie between ",
                b == 0 ? "" : concat(last, " and the ", ids.size(), " ids."));
  }
  return {};
}

Status check_mapping(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options) {
  if (options.mapping.empty()) return check_below(ids, table.spec().rows, "Id", "the vocabulary");
  ID2VEC_RETURN_IF_ERROR(check_below(ids, options.mapping.size(), "Id", "the mapping"));
  for (uint32_t id : ids) {
    if (options.mapping[id] < table.spec().rows) continue;
    return fail(Code::kMalformed, "The file maps id ", id, " to row ", options.mapping[id], ", but its table has ",
                table.spec().rows, " rows.");
  }
  return {};
}

// Whether options.weights go by the row an id is mapped to, and not by the id.
bool weights_by_row(const Table& table, const PoolOptions& options) {
  return !options.mapping.empty() && options.weights.size() != options.mapping.size() &&
         options.weights.size() == table.spec().rows;
}

Status check_weights(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options) {
  if (options.mode == PoolMode::kMax && !options.sample_weights.empty()) {
    return fail(Code::kInvalidArgument, "The greatest value takes no weights; use mode 'sum' or 'mean'.");
  }
  if (!options.sample_weights.empty()) {
    ID2VEC_RETURN_IF_ERROR(check_length("weights", options.sample_weights.size(), ids.size(), "one per id"));
  }
  if (!options.attention_mask.empty()) {
    ID2VEC_RETURN_IF_ERROR(check_length("attentionMask", options.attention_mask.size(), ids.size(), "one per id"));
  }
  if (options.weights.empty() || weights_by_row(table, options)) return {};
  return check_below(ids, options.weights.size(), "Id", "the model's weights");
}

Status check_pool(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options,
                  std::span<float> out) {
  if (options.dimensions > table.spec().cols) {
    return fail(Code::kInvalidArgument, "dimensions ", options.dimensions, " is more than the ", table.spec().cols,
                " columns of the table.");
  }
  ID2VEC_RETURN_IF_ERROR(check_bags(ids, options));
  ID2VEC_RETURN_IF_ERROR(check_mapping(table, ids, options));
  ID2VEC_RETURN_IF_ERROR(check_weights(table, ids, options));
  return check_length("out", out.size(), bag_count(ids, options) * pool_width(table, options), "[bags, width]");
}

void add_scaled(float* sum, const float* row, float factor, size_t width) {
  if (factor == 1) {
    for (size_t c = 0; c < width; ++c) sum[c] += row[c];
  } else {
    for (size_t c = 0; c < width; ++c) sum[c] += factor * row[c];
  }
}
void keep_greatest(float* best, const float* row, float factor, size_t width) {
  for (size_t c = 0; c < width; ++c) {
    const float term = factor * row[c];
    best[c] = term > best[c] ? term : best[c];
  }
}

// Collects the members of bags and gathers their rows tile by tile; a tile may span several bags, so that short
// bags cost no more calls than long ones.
class Pooling {
 public:
  Pooling(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options, float* out)
      : table_(table),
        ids_(ids),
        options_(options),
        width_(pool_width(table, options)),
        columns_(table.spec().cols),
        by_row_(weights_by_row(table, options)),
        out_(out) {}

  Status run() {
    ID2VEC_ASSIGN(rows_, Buffer<float>::of(kTileRows * columns_));
    const size_t bags = bag_count(ids_, options_);
    ID2VEC_ASSIGN(members_, Buffer<uint32_t>::of(bags));
    std::fill(out_, out_ + bags * width_, 0.0f);
    for (size_t b = 0; b < bags; ++b) {
      members_[b] = 0;
      for (size_t i = bag_start(options_, b); i < bag_end(ids_, options_, b); ++i) {
        if (is_member(i)) ID2VEC_RETURN_IF_ERROR(append(i, b));
      }
    }
    ID2VEC_RETURN_IF_ERROR(flush());
    if (options_.mode == PoolMode::kMean) divide(bags);
    if (options_.normalize) scale_to_unit_length(out_, bags, width_);
    return {};
  }

 private:
  bool is_member(size_t i) const {
    const int64_t id = ids_[i];
    return id != options_.padding_id && id != options_.unknown_id &&
           (options_.attention_mask.empty() || options_.attention_mask[i] != 0);
  }

  Status append(size_t i, size_t bag) {
    const uint32_t id = ids_[i], row = options_.mapping.empty() ? id : options_.mapping[id];
    float weight = options_.sample_weights.empty() ? 1.0f : options_.sample_weights[i];
    if (!options_.weights.empty()) weight *= options_.weights[by_row_ ? row : id];
    tile_rows_[tile_count_] = row;
    tile_bags_[tile_count_] = bag;
    tile_weights_[tile_count_] = weight;
    return ++tile_count_ == kTileRows ? flush() : Status();
  }

  Status flush() {
    ID2VEC_RETURN_IF_ERROR(table_.lookup({tile_rows_, tile_count_}, rows_.first(tile_count_ * columns_)));
    for (size_t i = 0; i < tile_count_; ++i) {
      float* target = out_ + tile_bags_[i] * width_;
      const float* row = rows_.data() + i * columns_;
      const bool first = members_[tile_bags_[i]]++ == 0;
      if (options_.mode == PoolMode::kMax && !first) {
        keep_greatest(target, row, tile_weights_[i], width_);
      } else {
        add_scaled(target, row, tile_weights_[i], width_);
      }
    }
    tile_count_ = 0;
    return {};
  }

  void divide(size_t bags) {
    for (size_t b = 0; b < bags; ++b) {
      if (members_[b] < 2) continue;
      const float count = static_cast<float>(members_[b]);
      for (size_t c = 0; c < width_; ++c) out_[b * width_ + c] /= count;
    }
  }

  const Table& table_;
  std::span<const uint32_t> ids_;
  const PoolOptions& options_;
  size_t width_, columns_;
  bool by_row_;
  float* out_;
  Buffer<float> rows_;
  Buffer<uint32_t> members_;
  uint32_t tile_rows_[kTileRows];
  size_t tile_bags_[kTileRows];
  float tile_weights_[kTileRows];
  size_t tile_count_ = 0;
};

}  // namespace

size_t bag_count(std::span<const uint32_t> ids, const PoolOptions& options) {
  if (!options.offsets.empty()) return options.offsets.size();
  return options.bag_length == 0 ? 0 : ids.size() / options.bag_length;
}

size_t pool_width(const Table& table, const PoolOptions& options) {
  return options.dimensions == 0 ? table.spec().cols : options.dimensions;
}

Status pool(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options, std::span<float> out) {
  ID2VEC_RETURN_IF_ERROR(check_pool(table, ids, options, out));
  return Pooling(table, ids, options, out.data()).run();
}

Status sif_weights(std::span<const double> counts, double a, std::span<float> weights) {
  ID2VEC_RETURN_IF_ERROR(check_length("counts", counts.size(), weights.size(), "one per id"));
  double total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (!(counts[i] >= 0) || !std::isfinite(counts[i])) {
      return fail(Code::kInvalidArgument, "The count of id ", i, " has to be a finite number of 0 or more.");
    }
    total += counts[i];
  }
  if (!(a > 0) || !std::isfinite(a)) return fail(Code::kInvalidArgument, "The SIF coefficient has to be above 0.");
  if (!(total > 0)) return fail(Code::kInvalidArgument, "All counts are 0, so no id has a frequency.");
  for (size_t i = 0; i < counts.size(); ++i) weights[i] = static_cast<float>(a / (a + counts[i] / total));
  return {};
}

Status sif_weights_by_rank(double a, std::span<float> weights) {
  if (!(a > 0) || !std::isfinite(a)) return fail(Code::kInvalidArgument, "The SIF coefficient has to be above 0.");
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) total += 1.0 / static_cast<double>(i + 2);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(a / (a + 1.0 / static_cast<double>(i + 2) / total));
  }
  return {};
}

}  // namespace id2vec

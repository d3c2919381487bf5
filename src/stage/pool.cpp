#include "stage/pool.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "stage/checks.h"
#include "stage/norm.h"
#include "stage/values.h"

namespace id2vec {
namespace {

constexpr size_t kTileRows = 32;

Status check_offsets(std::span<const uint32_t> ids, const PoolOptions& options) {
  if (options.offsets.empty()) {
    if (ids.empty() || (options.bag_length > 0 && ids.size() % options.bag_length == 0)) return {};
    return fail(Code::kInvalidArgument, ids.size(), " ids do not divide into bags of ", options.bag_length,
                ".");
  }
  uint32_t last = 0;
  for (size_t b = 0; b < options.offsets.size(); ++b) {
    const uint32_t offset = options.offsets[b];
    if (b == 0 ? offset == 0 : offset >= last && offset <= ids.size()) {
      last = offset;
      continue;
    }
    return fail(Code::kOutOfRange, "Offset ", offset, " of bag ", b,
                b == 0 ? " has to be 0." : " has to lie between ",
                b == 0 ? "" : concat(last, " and the ", ids.size(), " ids."));
  }
  return {};
}

// Rows of the whole table.
uint64_t whole_rows(const Table& table, const PoolOptions& options) {
  return options.places.empty() ? table.spec().rows : options.whole_rows;
}

Status check_places(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options) {
  if (options.places.empty()) return {};
  ID2VEC_RETURN_IF_ERROR(check_length("places", options.places.size(), ids.size(), "one per id"));
  return check_below(options.places, table.spec().rows, "Place", "the gathered rows");
}

Status check_mapping(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options) {
  const uint64_t rows = whole_rows(table, options);
  if (options.mapping.empty()) return check_below(ids, rows, "Id", "the vocabulary");
  ID2VEC_RETURN_IF_ERROR(check_below(ids, options.mapping.size(), "Id", "the mapping"));
  for (uint32_t id : ids) {
    if (options.mapping[id] < rows) continue;
    return fail(Code::kMalformed, "The file maps id ", id, " to row ", options.mapping[id],
                ", but its table has ", rows, " rows.");
  }
  return {};
}

// Whether options.weights go by the row an id is mapped to, and not by the id.
bool weights_by_row(const Table& table, const PoolOptions& options) {
  return !options.mapping.empty() && options.weights.size() != options.mapping.size() &&
         options.weights.size() == whole_rows(table, options);
}

Status check_weights(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options) {
  if (options.mode == PoolMode::kMax && !options.sample_weights.empty()) {
    return fail(Code::kInvalidArgument, "The greatest value takes no weights; use mode 'sum' or 'mean'.");
  }
  if (!options.sample_weights.empty()) {
    ID2VEC_RETURN_IF_ERROR(check_length("weights", options.sample_weights.size(), ids.size(), "one per id"));
  }
  if (!options.attention_mask.empty()) {
    ID2VEC_RETURN_IF_ERROR(
        check_length("attentionMask", options.attention_mask.size(), ids.size(), "one per id"));
  }
  if (options.weights.empty() || weights_by_row(table, options)) return {};
  return check_below(ids, options.weights.size(), "Id", "the model's weights");
}

Status check_pool(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options,
                  std::span<float> out) {
  if (options.dimensions > table.spec().cols) {
    return fail(Code::kInvalidArgument, "dimensions ", options.dimensions, " is more than the ",
                table.spec().cols, " columns of the table.");
  }
  ID2VEC_RETURN_IF_ERROR(check_bags(table, ids, options));
  return check_length("out", out.size(), bag_count(ids, options) * pool_width(table, options),
                      "[bags, width]");
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
        out_(out) {}

  Status run() {
    ID2VEC_ASSIGN(rows_, Values<float>::of(kTileRows * columns_));
    const size_t bags = bag_count(ids_, options_);
    ID2VEC_ASSIGN(members_, Values<uint32_t>::of(bags));
    std::fill(out_, out_ + bags * width_, 0.0f);
    for (size_t b = 0; b < bags; ++b) {
      members_[b] = 0;
      const BagRange range = bag_range(ids_, options_, b);
      for (size_t i = range.begin; i < range.end; ++i) {
        if (is_bag_member(ids_, options_, i)) ID2VEC_RETURN_IF_ERROR(append(i, b));
      }
    }
    ID2VEC_RETURN_IF_ERROR(flush());
    if (options_.mode == PoolMode::kMean) divide(bags);
    if (options_.normalize) scale_to_unit_length(out_, bags, width_);
    return {};
  }

 private:
  uint32_t row_at(size_t i) const {
    if (!options_.places.empty()) return options_.places[i];
    return options_.mapping.empty() ? ids_[i] : options_.mapping[ids_[i]];
  }

  Status append(size_t i, size_t bag) {
    tile_rows_[tile_count_] = row_at(i);
    tile_bags_[tile_count_] = bag;
    tile_weights_[tile_count_] = bag_weight(table_, ids_, options_, i);
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
  float* out_;
  Values<float> rows_;
  Values<uint32_t> members_;
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

BagRange bag_range(std::span<const uint32_t> ids, const PoolOptions& options, size_t bag) {
  if (options.offsets.empty()) return {bag * options.bag_length, (bag + 1) * options.bag_length};
  return {options.offsets[bag], bag + 1 < options.offsets.size() ? options.offsets[bag + 1] : ids.size()};
}

bool is_bag_member(std::span<const uint32_t> ids, const PoolOptions& options, size_t i) {
  const int64_t id = ids[i];
  return id != options.padding_id && id != options.unknown_id &&
         (options.attention_mask.empty() || options.attention_mask[i] != 0);
}

float bag_weight(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options, size_t i) {
  const float weight = options.sample_weights.empty() ? 1.0f : options.sample_weights[i];
  if (options.weights.empty()) return weight;
  return weight * options.weights[weights_by_row(table, options) ? options.mapping[ids[i]] : ids[i]];
}

Status check_bags(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options) {
  ID2VEC_RETURN_IF_ERROR(check_offsets(ids, options));
  ID2VEC_RETURN_IF_ERROR(check_mapping(table, ids, options));
  ID2VEC_RETURN_IF_ERROR(check_places(table, ids, options));
  return check_weights(table, ids, options);
}

size_t pool_width(const Table& table, const PoolOptions& options) {
  return options.dimensions == 0 ? table.spec().cols : options.dimensions;
}

Status pool(const Table& table, std::span<const uint32_t> ids, const PoolOptions& options,
            std::span<float> out) {
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
  if (!(a > 0) || !std::isfinite(a))
    return fail(Code::kInvalidArgument, "The SIF coefficient has to be above 0.");
  if (!(total > 0)) return fail(Code::kInvalidArgument, "All counts are 0, so no id has a frequency.");
  for (size_t i = 0; i < counts.size(); ++i) weights[i] = static_cast<float>(a / (a + counts[i] / total));
  return {};
}

Status sif_weights_by_rank(double a, std::span<float> weights) {
  if (!(a > 0) || !std::isfinite(a))
    return fail(Code::kInvalidArgument, "The SIF coefficient has to be above 0.");
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) total += 1.0 / static_cast<double>(i + 2);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(a / (a + 1.0 / static_cast<double>(i + 2) / total));
  }
  return {};
}

}  // namespace id2vec

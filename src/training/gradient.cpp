#include "training/gradient.h"

#include <algorithm>
#include <cmath>

#include "core/sort.h"
#include "core/text.h"
#include "training/vector.h"

namespace id2vec {
namespace {

Status out_of_memory(const char* what) {
  return fail(Code::kOutOfMemory, "no memory left for ", what, "; the call changed nothing");
}

Status require_length(const char* what, size_t got, size_t wanted) {
  if (got == wanted) return {};
  return fail(Code::kInvalidArgument, what, " has ", got, " values where ", wanted, " are needed");
}

Status require_finite(const char* what, std::span<const float> values) {
  if (all_finite(values)) return {};
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  return fail(Code::kInvalidArgument, what, " holds a value that is not finite, at index ",
              bad - values.begin(), "; lower the learning rate or clip before accumulating");
}

}  // namespace

Status RowGradient::check(const Rows& rows) const {
  const size_t count = rows.ids.size();
  if (!rows.coefficients.empty()) {
    ID2VEC_RETURN_IF_ERROR(require_length("coefficients", rows.coefficients.size(), count));
    ID2VEC_RETURN_IF_ERROR(require_finite("coefficients", rows.coefficients));
  }
  if (rows.sources.empty()) {
    ID2VEC_RETURN_IF_ERROR(require_length("the gradient of the rows", rows.values.size(), count * cols_));
  } else {
    ID2VEC_RETURN_IF_ERROR(require_length("sources", rows.sources.size(), count));
    const size_t sources = rows.values.size() / cols_;
    ID2VEC_RETURN_IF_ERROR(require_length("the gradient of the rows", rows.values.size(), sources * cols_));
    for (size_t t = 0; t < count; ++t) {
      if (rows.sources[t] < sources) continue;
      return fail(Code::kOutOfRange, "source ", rows.sources[t], " at position ", t,
                  " is not below the number of gradient rows, ", sources);
    }
  }
  for (size_t t = 0; t < count; ++t) {
    if (rows.ids[t] < rows_) continue;
    return fail(Code::kOutOfRange, "id ", rows.ids[t], " at position ", t, " is outside the vocabulary of ",
                rows_, " rows");
  }
  return require_finite("the gradient", rows.values);
}

Status RowGradient::touch(std::span<const uint32_t> ids) {
  if (dense_) return {};
  const size_t before = map_.size();
  for (const uint32_t id : ids) {
    if (is_padding(id)) continue;
    if (map_.insert(id) == RowMap::kNone) {
      map_.truncate(before);
      return out_of_memory("the gradient's row map");
    }
  }
  if (!values_.resize(map_.size() * cols_)) {
    map_.truncate(before);
    return out_of_memory("the gradient's rows");
  }
  return {};
}

Status RowGradient::add(const Rows& rows) {
  ID2VEC_RETURN_IF_ERROR(check(rows));
  RowMap seen;
  Array<float> counts;
  if (rows.scale_by_frequency) {
    for (const uint32_t id : rows.ids) {
      const uint32_t slot = seen.insert(id);
      if (slot == RowMap::kNone || !counts.resize(seen.size())) return out_of_memory("the counts of the ids");
      counts[slot] += 1;
    }
  }
  ID2VEC_RETURN_IF_ERROR(touch(rows.ids));
  for (size_t t = 0; t < rows.ids.size(); ++t) {
    const uint32_t id = rows.ids[t];
    if (is_padding(id)) continue;
    float coefficient = rows.coefficients.empty() ? 1.0f : rows.coefficients[t];
    if (rows.scale_by_frequency) coefficient /= counts[seen.find(id)];
    const size_t source = rows.sources.empty() ? t : rows.sources[t];
    add_scaled(row(id), rows.values.data() + source * cols_, coefficient, cols_);
  }
  return {};
}

Status RowGradient::make_dense() {
  if (dense_) return {};
  Array<float> all;
  if (rows_ > SIZE_MAX / sizeof(float) / cols_ || !all.resize(static_cast<size_t>(rows_) * cols_)) {
    return out_of_memory("a gradient of every row, which a tied head needs");
  }
  const std::span<const uint32_t> ids = map_.ids();
  for (size_t slot = 0; slot < ids.size(); ++slot) {
    std::copy_n(values_.data() + slot * cols_, cols_, all.data() + size_t{ids[slot]} * cols_);
  }
  values_.swap(all);
  map_ = RowMap();
  dense_ = true;
  return {};
}

float* RowGradient::row(uint32_t id) {
  if (dense_) return id < rows_ ? values_.data() + size_t{id} * cols_ : nullptr;
  const uint32_t slot = map_.find(id);
  return slot == RowMap::kNone ? nullptr : values_.data() + size_t{slot} * cols_;
}

Status RowGradient::sorted_ids(Array<uint32_t>& ids) const {
  ids.clear();
  if (!ids.resize(touched())) return out_of_memory("the list of touched rows");
  if (dense_) {
    for (size_t id = 0; id < ids.size(); ++id) ids[id] = static_cast<uint32_t>(id);
    return {};
  }
  std::copy(map_.ids().begin(), map_.ids().end(), ids.begin());
  heap_sort(ids);
  return {};
}

Status RowGradient::check_finite() const {
  if (all_finite(values_.span())) return {};
  for (size_t slot = 0; slot < touched(); ++slot) {
    if (all_finite(values_.span().subspan(slot * cols_, cols_))) continue;
    const size_t id = dense_ ? slot : map_.ids()[slot];
    return fail(Code::kInvalidArgument, "the accumulated gradient of row ", id,
                " is not finite; nothing was updated: call zeroGrad() and lower the loss scale");
  }
  return {};
}

double RowGradient::squared_norm() const {
  double sum = 0;
  for (const float value : values_.span()) sum += double{value} * value;
  return sum;
}

void RowGradient::clip(double max_value, double max_norm) {
  if (max_value > 0) {
    const float limit = static_cast<float>(max_value);
    for (float& value : values_) value = std::clamp(value, -limit, limit);
  }
  const double squares = max_norm > 0 ? squared_norm() : 0;
  if (squares <= max_norm * max_norm) return;
  const float scale = static_cast<float>(max_norm / std::sqrt(squares));
  for (float& value : values_) value *= scale;
}

void RowGradient::clear() {
  values_.clear();
  if (dense_) values_.release();
  map_.clear();
  dense_ = false;
}

}  // namespace id2vec

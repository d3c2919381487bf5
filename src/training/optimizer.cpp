#include "training/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "core/elementary.h"
#include "core/text.h"

namespace id2vec {
namespace {

constexpr std::array<std::pair<std::string_view, OptimizerKind>, 6> kKinds = {{
    {"sgd", OptimizerKind::kSgd},
    {"momentum", OptimizerKind::kMomentum},
    {"adagrad", OptimizerKind::kAdagrad},
    {"rowwise-adagrad", OptimizerKind::kRowwiseAdagrad},
    {"adam", OptimizerKind::kAdam},
    {"adamw", OptimizerKind::kAdamW},
}};

Status require(bool holds, const char* option, const char* range) {
  if (holds) return {};
  return fail(Code::kInvalidArgument, "the optimizer's ", option, " must be ", range);
}

bool is_at_least(double value, double least) { return std::isfinite(value) && value >= least; }
bool is_fraction(double value) { return value >= 0 && value < 1; }

struct Range {
  uint32_t cols;
  float learning_rate, weight_decay;
};

void sgd(const Range& range, float* __restrict w, const float* __restrict g) {
  for (uint32_t i = 0; i < range.cols; ++i) w[i] -= range.learning_rate * (g[i] + range.weight_decay * w[i]);
}

void momentum(const Range& range, float* __restrict w, const float* __restrict g, float* __restrict b,
              float mu) {
  for (uint32_t i = 0; i < range.cols; ++i) {
    b[i] = mu * b[i] + (g[i] + range.weight_decay * w[i]);
    w[i] -= range.learning_rate * b[i];
  }
}

void adagrad(const Range& range, float* __restrict w, const float* __restrict g, float* __restrict s,
             float epsilon) {
  for (uint32_t i = 0; i < range.cols; ++i) {
    const float decayed = g[i] + range.weight_decay * w[i];
    s[i] += decayed * decayed;
    w[i] -= range.learning_rate * decayed / (std::sqrt(s[i]) + epsilon);
  }
}

void rowwise_adagrad(const Range& range, float* __restrict w, const float* __restrict g, float& s,
                     float epsilon) {
  double squares = 0;
  for (uint32_t i = 0; i < range.cols; ++i) {
    const double decayed = g[i] + range.weight_decay * w[i];
    squares += decayed * decayed;
  }
  s += static_cast<float>(squares / range.cols);
  const float rate = range.learning_rate / (std::sqrt(s) + epsilon);
  for (uint32_t i = 0; i < range.cols; ++i) w[i] -= rate * (g[i] + range.weight_decay * w[i]);
}

struct Moments {
  float beta1, beta2, epsilon;
  float step_size;     // lr / (1 − β₁ᵗ)
  float second_scale;  // 1 / (1 − β₂ᵗ)
};

void adam(const Range& range, float* __restrict w, const float* __restrict g, float* __restrict m,
          float* __restrict v, const Moments& moments) {
  for (uint32_t i = 0; i < range.cols; ++i) {
    const float decayed = g[i] + range.weight_decay * w[i];
    m[i] = moments.beta1 * m[i] + (1 - moments.beta1) * decayed;
    v[i] = moments.beta2 * v[i] + (1 - moments.beta2) * decayed * decayed;
    w[i] -= moments.step_size * m[i] / (std::sqrt(v[i] * moments.second_scale) + moments.epsilon);
  }
}

// Scales a row down to the given L2 norm if it is longer.
void limit_norm(float* w, uint32_t cols, double max_norm) {
  double squares = 0;
  for (uint32_t i = 0; i < cols; ++i) squares += double{w[i]} * w[i];
  if (squares <= max_norm * max_norm) return;
  const float scale = static_cast<float>(max_norm / std::sqrt(squares));
  for (uint32_t i = 0; i < cols; ++i) w[i] *= scale;
}

}  // namespace

Result<OptimizerKind> optimizer_by_name(std::string_view name) {
  std::string known;
  for (const auto& [kind_name, kind] : kKinds) {
    if (kind_name == name) return kind;
    known += known.empty() ? "" : ", ";
    known += kind_name;
  }
  return fail(Code::kInvalidArgument, "there is no optimizer \"", name, "\"; choose one of ", known);
}

Result<Optimizer> Optimizer::create(const OptimizerOptions& options, uint64_t rows, uint32_t cols) {
  ID2VEC_RETURN_IF_ERROR(
      require(is_at_least(options.learning_rate, 0), "learningRate", "a finite number ≥ 0"));
  ID2VEC_RETURN_IF_ERROR(require(is_fraction(options.momentum), "momentum", "in [0, 1)"));
  ID2VEC_RETURN_IF_ERROR(require(is_fraction(options.beta1), "beta1", "in [0, 1)"));
  ID2VEC_RETURN_IF_ERROR(require(is_fraction(options.beta2), "beta2", "in [0, 1)"));
  ID2VEC_RETURN_IF_ERROR(require(is_at_least(options.epsilon, 0), "epsilon", "a finite number ≥ 0"));
  ID2VEC_RETURN_IF_ERROR(require(is_at_least(options.weight_decay, 0), "weightDecay", "a finite number ≥ 0"));
  ID2VEC_RETURN_IF_ERROR(
      require(is_at_least(options.initial_accumulator, 0), "initialAccumulator", "a finite number ≥ 0"));
  ID2VEC_RETURN_IF_ERROR(
      require(is_at_least(options.clip_norm, 0), "clipNorm", "a finite number ≥ 0 (0: off)"));
  ID2VEC_RETURN_IF_ERROR(
      require(is_at_least(options.clip_value, 0), "clipValue", "a finite number ≥ 0 (0: off)"));
  ID2VEC_RETURN_IF_ERROR(
      require(is_at_least(options.max_norm, 0), "maxNorm", "a finite number ≥ 0 (0: off)"));
  const bool adam = options.kind == OptimizerKind::kAdam || options.kind == OptimizerKind::kAdamW;
  ID2VEC_RETURN_IF_ERROR(require(!options.per_row_steps || (adam && !options.dense), "perRowSteps",
                                 "used with lazy adam or adamw alone"));
  return Optimizer(options, rows, cols);
}

Status Optimizer::set_learning_rate(double learning_rate) {
  ID2VEC_RETURN_IF_ERROR(require(is_at_least(learning_rate, 0), "learningRate", "a finite number ≥ 0"));
  options_.learning_rate = learning_rate;
  return {};
}

Optimizer::StateWidths Optimizer::widths() const {
  switch (options_.kind) {
    case OptimizerKind::kSgd: return {0, 0};
    case OptimizerKind::kMomentum: return {cols_, 0};
    case OptimizerKind::kAdagrad: return {cols_, 0};
    case OptimizerKind::kRowwiseAdagrad: return {1, 0};
    case OptimizerKind::kAdam: return {cols_, cols_};
    case OptimizerKind::kAdamW: return {cols_, cols_};
  }
  return {0, 0};
}

bool Optimizer::has_row_steps() const { return options_.per_row_steps; }

uint64_t Optimizer::state_bytes() const {
  return map_.bytes() + first_.capacity_bytes() + second_.capacity_bytes() + row_steps_.capacity_bytes();
}

// State of new rows: zero, or the initial sum of squares.
void Optimizer::initialise(size_t from_slot) {
  const bool has_sum =
      options_.kind == OptimizerKind::kAdagrad || options_.kind == OptimizerKind::kRowwiseAdagrad;
  if (!has_sum) return;
  std::fill(first_.begin() + from_slot * widths().first, first_.end(),
            static_cast<float>(options_.initial_accumulator));
}

Status Optimizer::reserve_state(std::span<const uint32_t> ids) {
  const StateWidths width = widths();
  if (width.first == 0) return {};  // a stateless optimizer needs no map either
  if (options_.dense && dense_ready_) return {};
  const size_t before = map_.size();
  bool reserved = true;
  if (!options_.dense) {
    for (const uint32_t id : ids) reserved = reserved && map_.insert(id) != RowMap::kNone;
  }
  const size_t slots = options_.dense ? static_cast<size_t>(rows_) : map_.size();
  reserved = reserved && first_.resize(slots * width.first) && second_.resize(slots * width.second) &&
             (!has_row_steps() || row_steps_.resize(slots));
  if (!reserved) {
    map_.truncate(before);
    (void)first_.resize(before * width.first);
    (void)second_.resize(before * width.second);
    (void)row_steps_.resize(has_row_steps() ? before : 0);
    return fail(Code::kOutOfMemory, "no memory left for the optimizer's state of ", slots,
                " rows; rowwise-adagrad keeps one number per row");
  }
  initialise(options_.dense ? 0 : before);
  dense_ready_ = options_.dense;
  return {};
}

void Optimizer::update_row(uint32_t id, float* w, const float* g) {
  const Range range{cols_, static_cast<float>(options_.learning_rate),
                    static_cast<float>(options_.weight_decay)};
  const StateWidths width = widths();
  const size_t slot = width.first == 0 ? 0 : slot_of(id);
  float* const first = first_.data() + slot * width.first;
  float* const second = second_.data() + slot * width.second;
  const float epsilon = static_cast<float>(options_.epsilon);
  switch (options_.kind) {
    case OptimizerKind::kSgd: sgd(range, w, g); break;
    case OptimizerKind::kMomentum: momentum(range, w, g, first, static_cast<float>(options_.momentum)); break;
    case OptimizerKind::kAdagrad: adagrad(range, w, g, first, epsilon); break;
    case OptimizerKind::kRowwiseAdagrad: rowwise_adagrad(range, w, g, *first, epsilon); break;
    case OptimizerKind::kAdam:
    case OptimizerKind::kAdamW: {
      const uint64_t t = has_row_steps() ? ++row_steps_[slot] : steps_;
      const Moments moments{static_cast<float>(options_.beta1), static_cast<float>(options_.beta2), epsilon,
                            static_cast<float>(options_.learning_rate / (1 - power(options_.beta1, t))),
                            static_cast<float>(1 / (1 - power(options_.beta2, t)))};
      Range decay = range;
      if (options_.kind == OptimizerKind::kAdamW) {
        const float keep = static_cast<float>(1 - options_.learning_rate * options_.weight_decay);
        for (uint32_t i = 0; i < cols_; ++i) w[i] *= keep;
        decay.weight_decay = 0;
      }
      adam(decay, w, g, first, second, moments);
      break;
    }
  }
  if (options_.max_norm > 0) limit_norm(w, cols_, options_.max_norm);
}

Status Optimizer::step(RowGradient& gradient, float* weights) {
  ID2VEC_RETURN_IF_ERROR(gradient.check_finite());
  Array<uint32_t> ids;
  ID2VEC_RETURN_IF_ERROR(gradient.sorted_ids(ids));
  Array<float> zero;
  if (options_.dense && !zero.resize(cols_))
    return fail(Code::kOutOfMemory, "no memory left for a row of zeros");
  ID2VEC_RETURN_IF_ERROR(reserve_state(ids.span()));
  gradient.clip(options_.clip_value, options_.clip_norm);
  ++steps_;
  const auto update = [&](uint32_t id, const float* g) {
    if (static_cast<int64_t>(id) == gradient.padding_id()) return;
    update_row(id, weights + size_t{id} * cols_, g);
  };
  if (options_.dense) {
    for (uint64_t id = 0; id < rows_; ++id) {
      const float* const g = gradient.row(static_cast<uint32_t>(id));
      update(static_cast<uint32_t>(id), g == nullptr ? zero.data() : g);
    }
  } else {
    for (const uint32_t id : ids) update(id, gradient.row(id));
  }
  return {};
}

}  // namespace id2vec

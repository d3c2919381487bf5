#include "training/head.h"

#include <algorithm>
#include <cmath>

#include "core/elementary.h"
#include "core/text.h"
#include "training/vector.h"

namespace id2vec {
namespace {

// Rows per tile: a tile of d = 768 floats per row stays in a second-level cache while every vector meets it.
constexpr uint64_t kTileRows = 64;
// Partial sums of a dot product.
constexpr size_t kLanes = 8;

template <class... Parts>
Status invalid(const Parts&... parts) {
  return fail(Code::kInvalidArgument, parts...);
}

Status check_hidden(const FloatTable& table, std::span<const float> hidden, size_t count,
                    std::span<const float> d_hidden) {
  if (hidden.size() != count * table.cols) {
    return invalid("the hidden vectors have ", hidden.size(), " values where ", count, " vectors of width ",
                   table.cols, " are needed");
  }
  if (!d_hidden.empty() && d_hidden.size() != hidden.size()) {
    return invalid("the gradient of the hidden vectors needs ", hidden.size(), " values, not ",
                   d_hidden.size());
  }
  if (!all_finite(hidden)) return invalid("the hidden vectors hold a value that is not finite");
  return {};
}

// Eight partial sums, so that the compiler may keep them in vector registers.
float dot(const float* a, const float* b, uint32_t count) {
  float lanes[kLanes] = {};
  uint32_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  float sum =
      ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// One logit's share in both gradients.
void back_propagate(const FloatTable& table, uint64_t row, const float* hidden, float dz,
                    RowGradient& gradient, float* d_hidden) {
  const uint32_t id = static_cast<uint32_t>(row);
  if (static_cast<int64_t>(id) != gradient.padding_id()) add_scaled(gradient.row(id), hidden, dz, table.cols);
  if (d_hidden != nullptr) add_scaled(d_hidden, table.weights + row * table.cols, dz, table.cols);
}

// log Σ exp, kept as a maximum and a sum relative to it while values arrive.
struct LogSumExp {
  double maximum = -INFINITY;
  double sum = 0;

  void add(double value) {
    if (value > maximum) {
      sum = sum * exponential(maximum - value) + 1;
      maximum = value;
    } else {
      sum += exponential(value - maximum);
    }
  }
  double value() const { return maximum + logarithm(sum); }
  // exp(x) ÷ Σ exp
  double share(double x) const { return exponential(x - maximum) / sum; }
};

}  // namespace

Status accumulate_logits(const FloatTable& table, std::span<const float> hidden,
                         std::span<const float> d_logits, double logit_scale, RowGradient& gradient,
                         std::span<float> d_hidden) {
  const size_t count = hidden.size() / table.cols;
  ID2VEC_RETURN_IF_ERROR(check_hidden(table, hidden, count, d_hidden));
  if (d_logits.size() != count * table.rows) {
    return invalid("the gradient of the logits has ", d_logits.size(), " values where [", count, ", ",
                   table.rows, "] are needed");
  }
  if (!all_finite(d_logits)) return invalid("the gradient of the logits holds a value that is not finite");
  ID2VEC_RETURN_IF_ERROR(gradient.make_dense());
  std::fill(d_hidden.begin(), d_hidden.end(), 0.0f);
  const float scale = static_cast<float>(logit_scale);
  for (uint64_t first = 0; first < table.rows; first += kTileRows) {
    const uint64_t end = std::min(table.rows, first + kTileRows);
    for (size_t n = 0; n < count; ++n) {
      float* const dh = d_hidden.empty() ? nullptr : d_hidden.data() + n * table.cols;
      for (uint64_t row = first; row < end; ++row) {
        back_propagate(table, row, hidden.data() + n * table.cols, scale * d_logits[n * table.rows + row],
                       gradient, dh);
      }
    }
  }
  return {};
}

Result<double> accumulate_cross_entropy(const FloatTable& table, std::span<const float> hidden,
                                        std::span<const int64_t> targets, const CrossEntropyOptions& options,
                                        RowGradient& gradient, std::span<float> d_hidden) {
  const size_t count = targets.size();
  ID2VEC_RETURN_IF_ERROR(check_hidden(table, hidden, count, d_hidden));
  size_t counted = 0;
  for (size_t n = 0; n < count; ++n) {
    if (targets[n] == options.ignore_target) continue;
    if (targets[n] < 0 || static_cast<uint64_t>(targets[n]) >= table.rows) {
      return fail(Code::kOutOfRange, "target ", targets[n], " at position ", n,
                  " is outside the vocabulary of ", table.rows, " rows");
    }
    ++counted;
  }
  Array<LogSumExp> sums;
  if (!sums.resize(count)) return fail(Code::kOutOfMemory, "no memory left for the softmax sums");
  std::fill(sums.begin(), sums.end(), LogSumExp{});
  ID2VEC_RETURN_IF_ERROR(gradient.make_dense());

  const auto logit = [&](size_t n, uint64_t row) {
    return options.logit_scale *
           dot(hidden.data() + n * table.cols, table.weights + row * table.cols, table.cols);
  };
  const auto for_each_logit = [&](auto&& visit) {
    for (uint64_t first = 0; first < table.rows; first += kTileRows) {
      const uint64_t end = std::min(table.rows, first + kTileRows);
      for (size_t n = 0; n < count; ++n) {
        if (targets[n] == options.ignore_target) continue;
        for (uint64_t row = first; row < end; ++row) visit(n, row);
      }
    }
  };
  for_each_logit([&](size_t n, uint64_t row) { sums[n].add(logit(n, row)); });

  const double weight = options.mean && counted > 0 ? 1.0 / static_cast<double>(counted) : 1.0;
  double loss = 0;
  for (size_t n = 0; n < count; ++n) {
    if (targets[n] == options.ignore_target) continue;
    loss += weight * (sums[n].value() - logit(n, static_cast<uint64_t>(targets[n])));
  }
  if (!std::isfinite(loss)) {
    return fail(Code::kInvalidArgument, "the loss is not finite: the table or the logits have overflowed");
  }
  std::fill(d_hidden.begin(), d_hidden.end(), 0.0f);
  for_each_logit([&](size_t n, uint64_t row) {
    const double probability = sums[n].share(logit(n, row));
    const double target = static_cast<int64_t>(row) == targets[n] ? 1.0 : 0.0;
    const float dz = static_cast<float>(options.logit_scale * weight * (probability - target));
    back_propagate(table, row, hidden.data() + n * table.cols, dz, gradient,
                   d_hidden.empty() ? nullptr : d_hidden.data() + n * table.cols);
  });
  return loss;
}

}  // namespace id2vec

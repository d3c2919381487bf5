#include "stage/norm.h"

#include <cmath>

#include "stage/checks.h"

namespace id2vec {
namespace {

// Σ f(x[i]) over four lanes.
template <class F>
double lane_sum(const float* x, size_t width, F f) {
  double lane[4] = {};
  size_t i = 0;
  for (; i + 4 <= width; i += 4) {
    for (size_t j = 0; j < 4; ++j) lane[j] += f(static_cast<double>(x[i + j]));
  }
  for (size_t j = 0; i < width; ++i, ++j) lane[j] += f(static_cast<double>(x[i]));
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

void affine(float* x, size_t width, double mean, double scale, const NormWeights& weights) {
  const float* weight = weights.weight.empty() ? nullptr : weights.weight.data();
  const float* bias = weights.bias.empty() ? nullptr : weights.bias.data();
  for (size_t i = 0; i < width; ++i) {
    double y = (x[i] - mean) * scale;
    if (weight) y *= weight[i];
    if (bias) y += bias[i];
    x[i] = static_cast<float>(y);
  }
}

}  // namespace

Status check_norm(Norm norm, const NormWeights& weights, size_t width) {
  if (norm == Norm::kNone) return {};
  if (!weights.weight.empty()) {
    ID2VEC_RETURN_IF_ERROR(check_length("The norm's weight", weights.weight.size(), width, "a row"));
  }
  return weights.bias.empty() ? Status()
                              : check_length("The norm's bias", weights.bias.size(), width, "a row");
}

void normalize_rows(Norm norm, double epsilon, const NormWeights& weights, float* rows, size_t count,
                    size_t width) {
  if (norm == Norm::kNone) return;
  const double n = static_cast<double>(width);
  for (size_t r = 0; r < count; ++r) {
    float* x = rows + r * width;
    const double mean = norm == Norm::kLayerNorm ? lane_sum(x, width, [](double v) { return v; }) / n : 0;
    const double variance = lane_sum(x, width, [mean](double v) { return (v - mean) * (v - mean); }) / n;
    affine(x, width, mean, 1 / std::sqrt(variance + epsilon), weights);
  }
}

double sum_of_squares(const float* x, size_t width) {
  return lane_sum(x, width, [](double v) { return v * v; });
}

void scale_to_unit_length(float* rows, size_t count, size_t width) {
  for (size_t r = 0; r < count; ++r) {
    float* x = rows + r * width;
    const double length = std::sqrt(sum_of_squares(x, width));
    if (length > 0) affine(x, width, 0, 1 / length, {});
  }
}

}  // namespace id2vec

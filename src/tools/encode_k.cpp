// Q4_K and Q6_K: the scale (and minimum) of each group is searched, then all of a block's are quantized themselves.
// The searches follow ggml's reference step by step, operation order included: the bytes must be the same.
#include <cstring>

#include "core/half.h"
#include "formats/q4_k.h"
#include "formats/q6_k.h"
#include "tools/encoders.h"
#include "tools/rounding.h"

namespace id2vec {
namespace {

// Below this a group counts as zero.
constexpr float kTiny = 1e-15f;

// A group of Q4_K in the making: x ≈ scale · q − min, q in 0 … 15, weighted by `weights`.
struct MinFit {
  float scale = 0;
  float min = 0;  // stored as what is subtracted, so ≥ 0
  uint8_t q[32] = {};
};

struct Weighted {
  const float* x;
  float weights[32];
  float sum_w, sum_x;  // Σ w, Σ w·x
  float low, high;     // of x; low is no more than 0
};

Weighted weigh(const float* x) {
  float squares = 0;
  for (size_t i = 0; i < 32; ++i) squares += x[i] * x[i];
  const float mean = std::sqrt(squares / 32);
  Weighted group{x, {}, 0, 0, x[0], x[0]};
  for (size_t i = 0; i < 32; ++i) {
    const float w = group.weights[i] = mean + std::fabs(x[i]);
    group.sum_w += w;
    group.sum_x += w * x[i];
    if (x[i] < group.low) group.low = x[i];
    if (x[i] > group.high) group.high = x[i];
  }
  if (group.low > 0) group.low = 0;
  return group;
}

void round_to(const Weighted& group, float factor, uint8_t (&q)[32]) {
  for (size_t i = 0; i < 32; ++i) q[i] = uint8_t(nearest(factor * (group.x[i] - group.low), 0, 15));
}

float squared_error(const Weighted& group, const uint8_t (&q)[32], float scale, float offset) {
  float error = 0;
  for (size_t i = 0; i < 32; ++i) {
    const float difference = scale * float(q[i]) + offset - group.x[i];
    error += group.weights[i] * (difference * difference);
  }
  return error;
}

struct Line {
  bool found;
  float scale, offset;
};

// Weighted least squares of x over q: scale · q + offset, with offset ≤ 0.
Line fit_line(const Weighted& group, const uint8_t (&q)[32]) {
  float sum_q = 0, sum_qq = 0, sum_xq = 0;
  for (size_t i = 0; i < 32; ++i) {
    const float wq = group.weights[i] * float(q[i]);
    sum_q += wq;
    sum_qq += wq * float(q[i]);
    sum_xq += wq * group.x[i];
  }
  const float determinant = group.sum_w * sum_qq - sum_q * sum_q;
  if (!(determinant > 0)) return {false, 0, 0};
  const float offset = (sum_qq * group.sum_x - sum_q * sum_xq) / determinant;
  if (offset > 0) return {true, sum_xq / sum_qq, 0};
  return {true, (group.sum_w * sum_xq - group.sum_x * sum_q) / determinant, offset};
}

// Tries 21 roundings, from 14 to 16 steps over the range, and keeps the line with the least weighted error. A line
// that is kept moves the lower end of the range for the roundings after it.
MinFit fit_group(const float* x) {
  Weighted group = weigh(x);
  MinFit best;
  best.min = -group.low;
  if (group.high == group.low) return best;
  const float factor = 15 / (group.high - group.low);
  best.scale = 1 / factor;
  round_to(group, factor, best.q);
  float best_error = squared_error(group, best.q, best.scale, group.low);
  for (int32_t step = 0; step <= 20; ++step) {
    uint8_t q[32];
    round_to(group, (-1.0f + 0.1f * float(step) + 15) / (group.high - group.low), q);
    const Line line = fit_line(group, q);
    if (!line.found) continue;
    const float error = squared_error(group, q, line.scale, line.offset);
    if (!(error < best_error)) continue;
    best_error = error;
    best.scale = line.scale;
    group.low = line.offset;
    std::memcpy(best.q, q, sizeof q);
  }
  best.min = -group.low;
  return best;
}

void set_scale_and_min(uint8_t (&packed)[12], size_t group, int32_t scale, int32_t min) {
  if (group < 4) {
    packed[group] = uint8_t(scale);
    packed[group + 4] = uint8_t(min);
    return;
  }
  packed[group + 4] = uint8_t((scale & 15) | (min & 15) << 4);
  packed[group - 4] |= uint8_t(scale >> 4 << 6);
  packed[group] |= uint8_t(min >> 4 << 6);
}

// The rounded scale and minimum of a group decide its quants anew.
void requantize(const float* x, const Q4_K::Block& block, size_t group, uint8_t (&q)[32]) {
  const Affine affine = Q4_K::affine(block, group);
  if (affine.scale == 0) return;
  for (size_t i = 0; i < 32; ++i) q[i] = uint8_t(nearest((x[i] - affine.offset) / affine.scale, 0, 15));
}

void encode_block(const float* x, Q4_K::Block& block) {
  MinFit fits[8];
  float max_scale = 0, max_min = 0;
  for (size_t g = 0; g < 8; ++g) {
    fits[g] = fit_group(x + g * 32);
    max_scale = std::max(max_scale, fits[g].scale);
    max_min = std::max(max_min, fits[g].min);
  }
  const float scale_factor = max_scale > 0 ? 63 / max_scale : 0;
  const float min_factor = max_min > 0 ? 63 / max_min : 0;
  for (size_t g = 0; g < 8; ++g) {
    set_scale_and_min(block.scales, g, nearest(scale_factor * fits[g].scale, 0, 63),
                      nearest(min_factor * fits[g].min, 0, 63));
  }
  block.scale = float_to_f16(max_scale / 63);
  block.min_scale = float_to_f16(max_min / 63);
  for (size_t g = 0; g < 8; ++g) {
    requantize(x + g * 32, block, g, fits[g].q);
    for (size_t i = 0; i < 32; ++i) block.q[g / 2 * 32 + i] |= uint8_t(fits[g].q[i] << (g % 2 * 4));
  }
}

// A group of Q6_K in the making: x ≈ scale · (q − 32), weighted by x².
struct ScaleFit {
  float scale = 0;
  uint8_t q[16] = {};
};

struct Products {
  float xq = 0, qq = 0;  // Σ x²·x·q, Σ x²·q²
};

Products products(const float* x, float factor) {
  Products sums;
  for (size_t i = 0; i < 16; ++i) {
    const float q = float(nearest(factor * x[i], -32, 31));
    const float w = x[i] * x[i];
    sums.xq += w * x[i] * q;
    sums.qq += w * q * q;
  }
  return sums;
}

void round_to(const float* x, float factor, uint8_t (&q)[16]) {
  for (size_t i = 0; i < 16; ++i) q[i] = uint8_t(nearest(factor * x[i], -32, 31) + 32);
}

// Tries 19 roundings, the extreme weight becoming −31.1 … −32.9, and keeps the one that explains most of x.
ScaleFit fit_scale(const float* x) {
  ScaleFit best;
  const float extreme_x = extreme(x, 16);
  if (std::fabs(extreme_x) < kTiny) return best;
  const float factor = -32 / extreme_x;
  round_to(x, factor, best.q);
  Products sums = products(x, factor);
  best.scale = sums.qq != 0 ? sums.xq / sums.qq : 0;
  float explained = best.scale * sums.xq;
  for (int32_t step = -9; step <= 9; ++step) {
    if (step == 0) continue;
    const float tried = -(32 + 0.1f * float(step)) / extreme_x;
    sums = products(x, tried);
    if (!(sums.qq > 0 && sums.xq * sums.xq > explained * sums.qq)) continue;
    round_to(x, tried, best.q);
    best.scale = sums.xq / sums.qq;
    explained = best.scale * sums.xq;
  }
  return best;
}

void requantize(const float* x, const Q6_K::Block& block, size_t group, uint8_t (&q)[16]) {
  const float scale = Q6_K::affine(block, group).scale;
  if (scale == 0) return;
  for (size_t i = 0; i < 16; ++i) q[i] = uint8_t(nearest(x[i] / scale, -32, 31) + 32);
}

void set_quant(Q6_K::Block& block, size_t i, uint8_t q) {
  block.low[i / 128 * 64 + i % 64] |= uint8_t((q & 15) << (i % 128 / 64 * 4));
  block.high[i / 128 * 32 + i % 32] |= uint8_t(q >> 4 << (i % 128 / 32 * 2));
}

void encode_block(const float* x, Q6_K::Block& block) {
  ScaleFit fits[16];
  float scales[16];
  for (size_t g = 0; g < 16; ++g) {
    fits[g] = fit_scale(x + g * 16);
    scales[g] = fits[g].scale;
  }
  const float largest = extreme(scales, 16);
  if (std::fabs(largest) < kTiny) return;  // all zero: so is the block
  const float factor = -128 / largest;
  block.scale = float_to_f16(1 / factor);
  for (size_t g = 0; g < 16; ++g) {
    block.scales[g] = int8_t(nearest(factor * fits[g].scale, -128, 127));
    requantize(x + g * 16, block, g, fits[g].q);
    for (size_t i = 0; i < 16; ++i) set_quant(block, g * 16 + i, fits[g].q[i]);
  }
}

template <class F>
void encode_blocks(const float* row, size_t cols, const RowPlanes& out) {
  for (size_t i = 0; i < cols / F::kBlockSize; ++i) {
    typename F::Block block{};
    encode_block(row + i * F::kBlockSize, block);
    std::memcpy(out[0] + i * sizeof block, &block, sizeof block);
  }
}

}  // namespace

void encode_q4_k(const float* row, size_t cols, const RowPlanes& out) { encode_blocks<Q4_K>(row, cols, out); }

void encode_q6_k(const float* row, size_t cols, const RowPlanes& out) { encode_blocks<Q6_K>(row, cols, out); }

}  // namespace id2vec

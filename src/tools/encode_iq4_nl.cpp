// IQ4_NL: the scale of a block is searched over the uneven levels. Follows ggml's reference step by step, operation
// order included: the bytes must be the same.
#include <cstring>

#include "core/half.h"
#include "formats/iq4_nl.h"
#include "tools/encoders.h"
#include "tools/rounding.h"

namespace id2vec {
namespace {

constexpr size_t kSize = IQ4_NL::kBlockSize;

// Index of the level nearest to x; of two equally near ones the upper.
uint8_t nearest_level(float x) {
  if (x <= kIq4Levels[0]) return 0;
  if (!(x < kIq4Levels[15])) return 15;
  uint8_t upper = 1;
  while (!(x < kIq4Levels[upper])) ++upper;
  return x - kIq4Levels[upper - 1] < kIq4Levels[upper] - x ? uint8_t(upper - 1) : upper;
}

struct Products {
  float xq = 0, qq = 0;  // Σ x²·q·x, Σ x²·q²
};

Products products(const float* x, float factor) {
  Products sums;
  for (size_t i = 0; i < kSize; ++i) {
    const float q = kIq4Levels[nearest_level(factor * x[i])];
    const float w = x[i] * x[i];
    sums.xq += w * q * x[i];
    sums.qq += w * q * q;
  }
  return sums;
}

// Tries 15 more roundings, the extreme weight landing at −134 … −120, and keeps the one that explains most of x.
float fit_scale(const float* x) {
  const float extreme_x = extreme(x, kSize);
  if (std::fabs(extreme_x) < 1e-15f) return 0;
  const float first = -extreme_x / kIq4Levels[0];
  Products sums = products(x, 1 / first);
  float scale = sums.xq / sums.qq;
  float explained = scale * sums.xq;
  for (int32_t step = -7; step <= 7; ++step) {
    sums = products(x, float(step + kIq4Levels[0]) / extreme_x);
    if (!(sums.qq > 0 && sums.xq * sums.xq > explained * sums.qq)) continue;
    scale = sums.xq / sums.qq;
    explained = scale * sums.xq;
  }
  return scale;
}

}  // namespace

void encode_iq4_nl(const float* row, size_t cols, const RowPlanes& out) {
  for (size_t n = 0; n < cols / kSize; ++n) {
    const float* x = row + n * kSize;
    const float scale = fit_scale(x);
    const float factor = inverse(scale);
    IQ4_NL::Block block{};
    block.scale = float_to_f16(scale);
    for (size_t i = 0; i < kSize; ++i)
      block.q[i % 16] |= uint8_t(nearest_level(factor * x[i]) << (i / 16 * 4));
    std::memcpy(out[0] + n * sizeof block, &block, sizeof block);
  }
}

}  // namespace id2vec

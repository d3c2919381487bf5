// Small loops over float vectors that training shares; written so that a compiler vectorises them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace id2vec {

// to[i] += scale · from[i]
inline void add_scaled(float* __restrict to, const float* __restrict from, float scale, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) to[i] += scale * from[i];
}

// x · 0 is 0 for every finite x and NaN for the others: one sum and no branch per value.
inline bool all_finite(std::span<const float> values) {
  float sum = 0;
  for (const float value : values) sum += value * 0.0f;
  return sum == 0.0f;
}

}  // namespace id2vec

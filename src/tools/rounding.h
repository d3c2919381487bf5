// Float to integer as the encoders need it. A cast of a float that the integer cannot hold is undefined; these
// functions give the nearest bound, and 0 for NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace id2vec {

// The weight of largest magnitude, with its sign; 0 for an empty or all-zero run. The first of equals.
//
// The magnitude has a variable of its own: of `fabs(x[i]) > fabs(best)`, LLVM 19 drops the second fabs at −O3 after
// the first element, and a negative extreme in front is lost (tests/js/quantize.test.ts).
inline float extreme(const float* x, size_t n) {
  float best = 0, magnitude = 0;
  for (size_t i = 0; i < n; ++i) {
    const float candidate = std::fabs(x[i]);
    if (candidate <= magnitude || !(candidate == candidate)) continue;
    magnitude = candidate;
    best = x[i];
  }
  return best;
}

// Toward zero.
inline int32_t truncate(float x) {
  constexpr float kBound = 1 << 22;
  if (!(x == x)) return 0;
  return static_cast<int32_t>(std::clamp(x, -kBound, kBound));
}

// To the nearest, ties to even.
inline int32_t nearest(float x) { return truncate(std::rint(x)); }

inline int32_t nearest(float x, int32_t low, int32_t high) { return std::clamp(nearest(x), low, high); }

// 1 / x, and 0 for 0.
inline float inverse(float x) { return x != 0 ? 1 / x : 0; }

}  // namespace id2vec

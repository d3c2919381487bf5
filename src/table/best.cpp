#include "table/best.h"

#include <bit>
#include <numbers>

#include "core/elementary.h"

namespace id2vec {
namespace {

// eˣ of a float ≤ 0, within 2e-7 of it; as 1e-38 where it would be less. Without a branch or a table, so that the
// compiler can take four numbers at a time.
inline float exponential_below_one(float x) {
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;  // the first times 7 bits is exact
  constexpr float kInteger = 0x1.8p23f;  // added, it leaves an integer in the low bits
  x = x < -87 ? -87 : x;
  const float k = x * std::numbers::log2e_v<float> + kInteger;
  const float r = (x - (k - kInteger) * kLn2High) - (k - kInteger) * kLn2Low;
  float series = 1.0f / 5040;
  series = series * r + 1.0f / 720;
  series = series * r + 1.0f / 120;
  series = series * r + 1.0f / 24;
  series = series * r + 1.0f / 6;
  series = series * r + 1.0f / 2;
  series = series * r + 1;
  series = series * r + 1;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(series) + (std::bit_cast<uint32_t>(k) << 23));
}

}  // namespace

void LogSumExp::add(const float* scores, size_t count) {
  float greatest = greatest_;
  for (size_t i = 0; i < count; ++i) greatest = std::max(greatest, scores[i]);
  if (greatest == -std::numeric_limits<float>::infinity()) return;  // ∞ − ∞ is no number
  if (greatest > greatest_) sum_ *= exponential(double{greatest_} - double{greatest});
  greatest_ = greatest;
  float lane[4] = {};
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t j = 0; j < 4; ++j) lane[j] += exponential_below_one(scores[i + j] - greatest);
  }
  for (size_t j = 0; i < count; ++i, ++j) lane[j] += exponential_below_one(scores[i] - greatest);
  sum_ += (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

float LogSumExp::value() const { return static_cast<float>(logarithm(sum_) + double{greatest_}); }

}  // namespace id2vec

#include "table/best.h"

#include <cmath>

namespace id2vec {

void LogSumExp::add(const float* scores, size_t count) {
  float greatest = greatest_;
  for (size_t i = 0; i < count; ++i) greatest = std::max(greatest, scores[i]);
  if (greatest == -std::numeric_limits<float>::infinity()) return;  // ∞ − ∞ is no number
  if (greatest > greatest_) sum_ *= std::exp(double(greatest_) - double(greatest));
  greatest_ = greatest;
  float sum = 0;
  for (size_t i = 0; i < count; ++i) sum += std::exp(scores[i] - greatest);
  sum_ += sum;
}

float LogSumExp::value() const { return static_cast<float>(std::log(sum_) + double(greatest_)); }

}  // namespace id2vec

#include "training/initialise.h"

#include <cmath>
#include <numbers>

#include "core/elementary.h"

namespace id2vec {
namespace {

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // In (0, 1]: 53 random bits, never zero, so that its logarithm is finite.
  double uniform() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace

void fill_normal(std::span<float> weights, double standard_deviation, uint64_t seed) {
  SplitMix64 random(seed);
  for (size_t i = 0; i < weights.size(); i += 2) {
    const double radius = standard_deviation * std::sqrt(-2 * logarithm(random.uniform()));
    const Direction to = direction(2 * std::numbers::pi * random.uniform());
    weights[i] = static_cast<float>(radius * to.cosine);
    if (i + 1 < weights.size()) weights[i + 1] = static_cast<float>(radius * to.sine);
  }
}

}  // namespace id2vec

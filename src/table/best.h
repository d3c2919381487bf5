// The k best (score, id) pairs seen so far, as a heap whose root is the worst of them. Better is the higher
// score, or the lower id where scores are equal. NaN compares false with everything, so it never gets in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace id2vec {

struct Scored {
  float score;
  uint32_t id;

  bool better_than(const Scored& other) const {
    return score > other.score || (score == other.score && id < other.id);
  }
};

class Best {
 public:
  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  // Keeps `k` entries in `slots`.
  Best(Scored* slots, size_t k) : slots_(slots), k_(k) {}

  // What a score has to reach: most rows cost this compare and nothing else.
  float threshold() const { return count_ < k_ || k_ == 0 ? kNone : slots_[0].score; }

  void offer(float score, uint32_t id) {
    const Scored candidate{score, id};
    if (count_ < k_) {
      if (!(score > kNone)) return;
      slots_[count_++] = candidate;
      std::push_heap(slots_, slots_ + count_, better);
    } else if (k_ != 0 && candidate.better_than(slots_[0])) {
      std::pop_heap(slots_, slots_ + k_, better);
      slots_[k_ - 1] = candidate;
      std::push_heap(slots_, slots_ + k_, better);
    }
  }

  // `count` ≥ k entries, best first; −∞ and −1 where there were fewer.
  void write(float* values, int32_t* indices, size_t count) {
    std::sort_heap(slots_, slots_ + count_, better);
    for (size_t i = 0; i < count; ++i) {
      values[i] = i < count_ ? slots_[i].score : kNone;
      indices[i] = i < count_ ? static_cast<int32_t>(slots_[i].id) : -1;
    }
  }

 private:
  // The standard heap has its greatest element at the root: "less" means better.
  static bool better(const Scored& a, const Scored& b) { return a.better_than(b); }

  Scored* slots_;
  size_t k_;
  size_t count_ = 0;
};

// ln Σ exp(x) of numbers that come one after the other, never overflowing: the sum is kept relative to the
// greatest number so far.
class LogSumExp {
 public:
  void add(const float* scores, size_t count);
  float value() const;

 private:
  float greatest_ = -std::numeric_limits<float>::infinity();
  double sum_ = 0;
};

}  // namespace id2vec

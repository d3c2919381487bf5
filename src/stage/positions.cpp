#include "stage/positions.h"

#include "core/elementary.h"
#include "core/text.h"
#include "stage/checks.h"

namespace id2vec {
namespace {

constexpr double kLog10000 = 9.210340371976182736;

// Of one sequence: every rule is a running count over it.
class Counter {
 public:
  Counter(const Profile& profile, uint64_t past) : profile_(profile), seen_(past) {}

  int64_t next(uint32_t id, bool attended) {
    switch (profile_.position_ids) {
      case PositionIds::kSequential: return static_cast<int64_t>(seen_++) + profile_.position_offset;
      case PositionIds::kCumulativeMask:
        if (attended) ++seen_;
        return (attended ? static_cast<int64_t>(seen_) : 0) - 1 + profile_.position_offset;
      case PositionIds::kSkipPadding: {
        const bool pad = static_cast<int64_t>(id) == profile_.padding_id;
        if (!pad) ++seen_;
        return profile_.padding_id + (pad ? 0 : static_cast<int64_t>(seen_)) + profile_.position_offset;
      }
    }
    return 0;
  }

 private:
  const Profile& profile_;
  uint64_t seen_;
};

Status store(int64_t position, size_t index, std::span<uint32_t> rows) {
  if (position < 0 || position > UINT32_MAX) {
    return fail(Code::kOutOfRange, "The position at index ", index, " comes out as ", position,
                ", which no position table has; check positionOffset and the profile's positionOffset.");
  }
  rows[index] = static_cast<uint32_t>(position);
  return {};
}

Status explicit_rows(const Profile& profile, SequenceShape shape, std::span<const uint32_t> given,
                     std::span<uint32_t> rows) {
  if (given.size() != shape.tokens() && given.size() != shape.length) {
    return check_length("positions", given.size(), shape.tokens(), "one per id");
  }
  for (size_t i = 0; i < shape.tokens(); ++i) {
    ID2VEC_RETURN_IF_ERROR(store(int64_t{given[i % given.size()]} + profile.position_offset, i, rows));
  }
  return {};
}

}  // namespace

Status position_rows(const Profile& profile, std::span<const uint32_t> ids, SequenceShape shape,
                     const PositionOptions& options, std::span<uint32_t> rows) {
  if (!options.explicit_ids.empty()) return explicit_rows(profile, shape, options.explicit_ids, rows);
  const auto mask = options.attention_mask;
  if (!mask.empty())
    ID2VEC_RETURN_IF_ERROR(check_length("attentionMask", mask.size(), shape.tokens(), "one per id"));
  if (options.past > UINT32_MAX) {
    return fail(Code::kOutOfRange, "positionOffset ", options.past, " is larger than 4294967295.");
  }
  for (size_t b = 0; b < shape.batch; ++b) {
    Counter counter(profile, options.past);
    for (size_t t = 0; t < shape.length; ++t) {
      const size_t i = b * shape.length + t;
      ID2VEC_RETURN_IF_ERROR(store(counter.next(ids[i], mask.empty() || mask[i] != 0), i, rows));
    }
  }
  return {};
}

Sinusoids::Sinusoids(Positions kind, std::span<double> divisors, size_t width)
    : kind_(kind), divisors_(divisors), width_(width) {
  for (size_t i = 0; i < divisors.size(); ++i) {
    divisors[i] = exponential(kLog10000 * static_cast<double>(2 * i) / static_cast<double>(width));
  }
}

void Sinusoids::row(uint32_t position, float* out) const {
  const size_t sines = divisors_.size(), cosines = width_ - sines;
  const bool interleaved = kind_ == Positions::kSinusoidalInterleaved;
  for (size_t i = 0; i < sines; ++i) {
    const Direction at = direction(position / divisors_[i]);
    out[interleaved ? 2 * i : i] = static_cast<float>(at.sine);
    if (i < cosines) out[interleaved ? 2 * i + 1 : sines + i] = static_cast<float>(at.cosine);
  }
}

}  // namespace id2vec

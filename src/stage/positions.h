// Positions: which row of the position table (or which argument of the sinusoids) each token gets, and the
// sinusoids themselves.
#pragma once

#include <cstdint>
#include <span>

#include "core/status.h"
#include "model/profile.h"

namespace id2vec {

// ids are [batch, length], row-major.
struct SequenceShape {
  size_t batch = 1;
  size_t length = 0;
  size_t tokens() const { return batch * length; }
};

struct PositionOptions {
  uint64_t past = 0;   // tokens that came before (decoding step by step)
  std::span<const uint32_t>
      explicit_ids{};  // [batch, length] or [length]: taken as they are, plus the offset
  std::span<const uint8_t> attention_mask{};  // [batch, length] of 0 and 1; empty: all 1
};

// rows[b·length + t] for every token:
//   explicit:        given + offset
//   sequential:      past + t + offset
//   cumulative mask: (past + cumsum(mask)) · mask − 1 + offset    (HF OPTLearnedPositionalEmbedding)
//   skip padding:    padding_id + (past + cumsum(id ≠ pad)) · (id ≠ pad)    (HF create_position_ids_from_input_ids)
// kInvalidArgument where an array has the wrong length, kOutOfRange where a position leaves 0 … 2³² − 1.
Status position_rows(const Profile& profile, std::span<const uint32_t> ids, SequenceShape shape,
                     const PositionOptions& options, std::span<uint32_t> rows);

// Vaswani et al. 2017, section 3.5, with angle(p, i) = p / 10000^(2i / d) in double precision and one rounding to
// float at the end:
//   interleaved: row[2i] = sin(angle(p, i)), row[2i + 1] = cos(angle(p, i))
//   halves:      row[i] = sin(angle(p, i)) for i < ⌈d/2⌉, row[⌈d/2⌉ + i] = cos(angle(p, i))   (HF Marian)
class Sinusoids {
 public:
  // `divisors` is [⌈d/2⌉] scratch that outlives the object; filled here with 10000^(2i / d).
  Sinusoids(Positions kind, std::span<double> divisors, size_t width);
  void row(uint32_t position, float* out) const;  // [width]

 private:
  Positions kind_;
  std::span<const double> divisors_;
  size_t width_;
};

}  // namespace id2vec

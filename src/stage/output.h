// The output stage: hidden vectors back to logits over the vocabulary. Per vector h [hidden] and row w_v [r]:
//
//   h' = h · float(hidden_scale)                           where the scale is not 1
//   h' = head_norm(activation(h' · Pᵀ + bias))             where the head has a projection
//   z_v = ⟨h', w_v⟩ · float(logit_scale)
//   z_v = softcap · tanh(z_v / softcap)                    where softcap > 0
//   z_v = z_v + bias_v                                     where the head has a bias
//   z_v = z_v / temperature
//   then, on request, softmax or log-softmax over the ids that compete
//
// Ids that do not compete (forbidden, not allowed, beyond the tokenizer) get −∞, or 0 after softmax.
#pragma once

#include <cstdint>
#include <span>

#include "core/status.h"
#include "model/profile.h"
#include "stage/norm.h"
#include "stage/projection.h"
#include "table/table.h"

namespace id2vec {

struct OutputStage {
  const Table* head = nullptr;    // W [V, r]: the embedding itself where tied
  Projection projection{};        // [r, hidden], or transposed [hidden, r]
  NormWeights norm{};             // after the projection
  std::span<const float> bias{};  // [V], or shorter than V: missing ids get 0; empty: none
};

enum class Scores : uint8_t { kLogits, kSoftmax, kLogSoftmax };

struct OutputOptions {
  Precision precision = Precision::kHigh;
  std::span<const uint32_t> allowed{};    // these ids alone; empty: all
  std::span<const uint32_t> forbidden{};  // never these
  uint64_t limit = UINT64_MAX;            // ids ≥ limit do not compete (rows beyond the tokenizer)
  double temperature = 1;
  Scores scores = Scores::kLogits;
};

// Width of the hidden vectors that the stage takes.
size_t hidden_width(const OutputStage& stage);

// out [N, V], or [N, allowed] in the order of `allowed`. Checked before anything is written: kInvalidArgument for
// shapes or a temperature that is not above 0; kOutOfRange for ids outside the head.
Status head_logits(const Profile& profile, const OutputStage& stage, std::span<const float> hidden,
                   const OutputOptions& options, std::span<float> out);

// The k best per vector: best.values and best.indices [N, k]; ties go to the lower id, NaN never wins. Where fewer
// than k ids compete, the rest has value −∞ (0 after softmax) and index −1. No [N, V] array is made. Softcap and
// temperature keep order, so winners are found before them; scores that these round to one value keep their places.
Status head_top_k(const Profile& profile, const OutputStage& stage, std::span<const float> hidden, size_t k,
                  const OutputOptions& options, TopK best);

}  // namespace id2vec

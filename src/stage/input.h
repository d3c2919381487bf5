// The input stage: what a model's first layer receives. Per token, in float, in this order:
//
//   x = E[id]
//   x = x · float(embedding_scale)                       where the scale is not 1
//   x = x · projectionᵀ + projection bias                where profile.projection_first
//   x = x + token_types[type]                            where the file has token types (type 0 unless given)
//   x = x + P[position]                                  a learned row or sinusoids
//   x = norm(x)
//   x = x · projectionᵀ + projection bias                where there is one and it did not come first
//
// Every + and · is one float operation with one rounding (norms: stage/norm.h), so the result is the same on every
// machine: input[t] = √d · E[id] + P[t] to the last bit.
#pragma once

#include <cstdint>
#include <span>

#include "core/status.h"
#include "model/profile.h"
#include "stage/norm.h"
#include "stage/positions.h"
#include "stage/projection.h"
#include "table/table.h"

namespace id2vec {

struct InputStage {
  const Table* embedding = nullptr;    // [V, r]
  const Table* positions = nullptr;    // learned positions: [P, width at that point]
  const Table* token_types = nullptr;  // [T, width at that point]
  NormWeights norm{};
  Projection projection{};             // [d, r]
};

struct EmbedOptions {
  SequenceShape shape;
  PositionOptions positions{};
  std::span<const uint32_t> token_types{};  // [batch, length]; empty: all 0
  // E[ids] where the caller has it already (rows that live elsewhere): [batch · length, r]; empty: read the table.
  std::span<const float> rows{};
};

// Width of what embed() writes per token.
size_t embed_width(const InputStage& stage);

// out [batch · length, embed_width] = the input stage of ids [batch, length]. Everything is checked before anything
// is written: kOutOfRange for an id, position or type outside its table, kInvalidArgument for shapes that do not
// fit, kNotFound where the profile asks for learned positions or a norm that the file does not hold. Positions and
// masks have no effect where profile.positions is none (rotary, ALiBi and relative kinds act inside attention).
Status embed(const Profile& profile, const InputStage& stage, std::span<const uint32_t> ids,
             const EmbedOptions& options, std::span<float> out);

// The second table of Gemma 3n and Gemma 4: out [N, layers · width] = E'[ids] · float(per_layer_scale). That table
// is shorter than the vocabulary; an id beyond it reads row 0, as in HF Gemma3nTextModel.get_per_layer_inputs.
Status embed_per_layer(const Profile& profile, const Table& table, std::span<const uint32_t> ids,
                       std::span<float> out);

}  // namespace id2vec

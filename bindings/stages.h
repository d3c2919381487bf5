// One model's input and output stage, and pooling, as JavaScript holds them: the tables that take part (owned by
// their own handles, which must outlive this one), the small vectors (owned here), and the profile.
#pragma once

#include <string>
#include <vector>

#include "calls.h"
#include "model/profile.h"
#include "search/nearest.h"
#include "stage/input.h"
#include "stage/output.h"
#include "stage/pool.h"

namespace id2vec {

class Stages {
 public:
  Stages(const Profile& profile, const Table& embedding, const Table& head);

  // A table for a role: positions, token_types, projection, head_projection.
  Status set_table(const std::string& role, const Table* table);
  // A vector for a role, copied out of a table as floats: norm_weight, norm_bias, projection_bias, head_bias, …, weights.
  Status set_vector(const std::string& role, const Table& table);
  // mapping: the row of each id.
  void set_mapping(uintptr_t rows, size_t count) { mapping_.assign(at_ids(rows), at_ids(rows) + count); }
  // Weights by id that the caller chose, instead of the file's; none where the count is 0.
  void set_weights(uintptr_t weights, size_t count);

  // A table of a few rows to score instead of the head, and the id of each of its rows; null: the head again.
  void use_head(const Table* table, uintptr_t ids, size_t count);

  size_t embed_width() const { return id2vec::embed_width(input()); }
  size_t hidden_width() const { return id2vec::hidden_width(output()); }
  // Rows of the whole table, where the embedding is a stand-in for its shape.
  void set_rows(size_t rows) { rows_ = rows; }
  size_t ids() const { return mapping_.empty() ? rows_ : mapping_.size(); }

  // Of a factorized table E = A · B: rows of A [count, k] → rows of E [count, d], or, `down`, vectors of width d → h · Bᵀ.
  Status through_factors(uintptr_t vectors, size_t count, bool down, uintptr_t out) const;
  Status embed(const EmbedCall& call, uintptr_t out) const;
  Status logits(const HeadCall& call, uintptr_t out) const;
  Status top_k(const HeadCall& call, size_t k, uintptr_t values, uintptr_t indices) const;
  // out [count]: the row of each id, which is below ids().
  Status rows_of(uintptr_t ids, size_t count, uintptr_t out) const;
  // `gathered`: a table of the rows that call.places speaks of; null where the rows are in the embedding itself.
  Status pool(const Table* gathered, const PoolCall& call, uintptr_t out) const;

 private:
  static const uint32_t* at_ids(uintptr_t address) { return reinterpret_cast<const uint32_t*>(address); }
  std::vector<float>* vector_of(std::string_view role);
  InputStage input() const;
  OutputStage output() const;

  Profile profile_;
  const Table* embedding_;
  const Table* head_;
  const Table* stand_in_ = nullptr;
  const Table* positions_ = nullptr;
  const Table* token_types_ = nullptr;
  const Table* projection_ = nullptr;
  const Table* head_projection_ = nullptr;
  std::vector<float> norm_weight_, norm_bias_, projection_bias_, head_projection_bias_, head_norm_weight_,
      head_norm_bias_, head_bias_, stand_in_bias_, weights_;
  std::vector<uint32_t> mapping_;
  size_t rows_;
};

}  // namespace id2vec

// One model's input and output stage, pooling and geometry, as JavaScript holds it: the tables that take part (owned by
// their own handles, which must outlive this one), the small vectors (owned here), and the profile.
#pragma once

#include <string>
#include <vector>

#include "model/profile.h"
#include "search/nearest.h"
#include "stage/input.h"
#include "stage/output.h"
#include "stage/pool.h"

namespace id2vec {

// Arguments of one call. Addresses of 0 stand for "not given"; ids, masks, types and explicit positions are [batch, length].
struct EmbedCall {
  uintptr_t ids = 0;
  size_t batch = 0;
  size_t length = 0;
  double past = 0;
  uintptr_t positions = 0;
  size_t positions_length = 0;
  uintptr_t attention_mask = 0;
  uintptr_t token_types = 0;
  uintptr_t rows = 0;  // E[ids] as floats, where the caller has it; 0: read the table
};
struct HeadCall {
  uintptr_t hidden = 0;  // [count, hidden width]
  size_t count = 0;
  bool fast = false;
  uintptr_t allowed = 0;
  size_t allowed_length = 0;
  uintptr_t forbidden = 0;
  size_t forbidden_length = 0;
  double limit = 0;
  double temperature = 1;
  int scores = 0;  // 0 logits, 1 softmax, 2 log-softmax
};
struct PoolCall {
  uintptr_t ids = 0;
  size_t ids_length = 0;
  uintptr_t offsets = 0;
  size_t offsets_length = 0;
  size_t bag_length = 0;
  uintptr_t attention_mask = 0;
  uintptr_t sample_weights = 0;
  int mode = 0;  // 0 mean, 1 sum, 2 max
  double padding_id = -1;
  double unknown_id = -1;
  uint32_t dimensions = 0;
  bool normalize = false;
  uintptr_t places = 0;  // [ids_length], where the rows were gathered
};
struct NearestCall {
  uintptr_t query = 0;  // [d]
  size_t k = 0;
  int metric = 0;       // 0 cosine, 1 dot, 2 euclidean
  uintptr_t exclude = 0;
  size_t exclude_length = 0;
  double limit = 0;
};

class Stages {
 public:
  Stages(const Profile& profile, const Table& embedding, const Table& head);

  // A table for a role: positions, token_types, projection, head_projection.
  int set_table(const std::string& role, const Table* table);
  // A vector for a role, copied out of a table as floats: norm_weight, norm_bias, projection_bias, head_bias, …, weights.
  int set_vector(const std::string& role, const Table& table);
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
  int through_factors(uintptr_t vectors, size_t count, bool down, uintptr_t out) const;
  int embed(const EmbedCall& call, uintptr_t out) const;
  int logits(const HeadCall& call, uintptr_t out) const;
  int top_k(const HeadCall& call, size_t k, uintptr_t values, uintptr_t indices) const;
  // out [count]: the row of each id, which is below ids().
  int rows_of(uintptr_t ids, size_t count, uintptr_t out) const;
  // `gathered`: a table of the rows that call.places speaks of; null where the rows are in the embedding itself.
  int pool(const Table* gathered, const PoolCall& call, uintptr_t out) const;

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

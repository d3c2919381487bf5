// Arguments of calls that take many: JavaScript writes them into memory, one double for each field, and passes the address.
// bindings/js/call.ts lists the same names in the same order (a test compares them).
#pragma once

#include <cstddef>
#include <cstdint>

namespace id2vec {

// A T that JavaScript wrote as a double.
template <class T>
struct Given {
  double value;
  operator T() const { return static_cast<T>(value); }
};
using Address = Given<uintptr_t>;  // 0: not given
using Count = Given<size_t>;
using Choice = Given<int>;
using Number = Given<double>;
using Flag = Given<bool>;

// ids, masks, types and explicit positions are [batch, length].
struct EmbedCall {
  Address ids;
  Count batch;
  Count length;
  Given<uint64_t> past;
  Address positions;
  Count positions_length;
  Address attention_mask;
  Address token_types;
  Address rows;  // E[ids] as floats, where the caller has it; 0: read the table
};

struct HeadCall {
  Address hidden;  // [count, hidden width]
  Count count;
  Flag fast;
  Address allowed;
  Count allowed_length;
  Address forbidden;
  Count forbidden_length;
  Given<uint64_t> limit;
  Number temperature;
  Choice scores;  // 0 logits, 1 softmax, 2 log-softmax
};

struct PoolCall {
  Address ids;
  Count ids_length;
  Address offsets;
  Count offsets_length;
  Address attention_mask;
  Address sample_weights;
  Choice mode;                // 0 mean, 1 sum, 2 max
  Given<int64_t> padding_id;  // −1: none
  Given<int64_t> unknown_id;  // −1: none
  Given<uint32_t> dimensions;
  Flag normalize;
  Address places;  // [ids_length], where the rows were gathered
};

struct NearestCall {
  Address query;  // [d]
  Count k;
  Choice metric;  // 0 cosine, 1 dot, 2 euclidean
  Address exclude;
  Count exclude_length;
  Given<uint64_t> limit;
};

// AffineSpec of formats/catalog.h.
struct AffineCall {
  Given<uint32_t> group_size;
  Choice scale_type;
  Choice offsets;
  Flag is_signed;
  Flag per_tensor;
  Given<int32_t> zero_point;
  Given<float> scale_factor;
};

struct PoolGradientCall {
  Address ids;
  Count count;
  Address offsets;
  Count offsets_length;
  Count bag_length;
  Address mask;
  Address weights;
  Address d_pooled;
  Count d_pooled_length;
  Choice mode;
};

// OptimizerOptions of training/optimizer.h.
struct OptimizerCall {
  Number learning_rate;
  Number momentum;
  Number beta1;
  Number beta2;
  Number epsilon;
  Number weight_decay;
  Number initial_accumulator;
  Number clip_norm;
  Number clip_value;
  Number max_norm;
  Flag dense;
  Flag per_row_steps;
};

}  // namespace id2vec

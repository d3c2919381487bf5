// Re-encodes a whole table, and says what that did to it.
#pragma once

#include <memory>

#include "core/status.h"
#include "table/table.h"

namespace id2vec {

// The format that a table of this width gets when `wanted` is asked for: `wanted` itself where the width allows it,
// otherwise the next one that does, as llama.cpp chooses: Q4_K → Q5_0, Q6_K → Q8_0, and F16 where d is no multiple
// of 32. "I8", a plain type, means signed bytes with a scale per row (AFFINE_8). Null if there is no encoder.
const Dtype* encodable_dtype(const Dtype& wanted, uint32_t cols);

// A new table with the rows of `source` in another format. kUnsupported where there is no encoder for it,
// kInvalidArgument where the width does not fit its blocks.
Result<std::unique_ptr<Table>> quantize_table(const Table& source, const Dtype& to);

struct QuantizeReport {
  uint64_t source_bytes = 0;
  uint64_t bytes = 0;
  double relative_error = 0;  // ‖E − Ê‖ / ‖E‖ over the whole table
  uint64_t worst_row = 0;     // the row of largest ‖e − ê‖ / ‖e‖
  double worst_row_error = 0;
  double mean_cosine = 1;     // of e and ê, over the rows that are not zero
  double top1_agreement = 1;  // share of sampled rows whose best logit is the same id with both tables
  uint32_t sampled_rows = 0;
};

// kInvalidArgument where the shapes differ, kOutOfMemory where a row of floats does not fit.
Result<QuantizeReport> compare_tables(const Table& source, const Table& quantized);

}  // namespace id2vec

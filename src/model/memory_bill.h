// The memory bill of a vocabulary: what V · d numbers cost as they are, in every other format, tied, and factorized.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "formats/catalog.h"

namespace id2vec {

struct BillInput {
  uint64_t rows = 0;         // V
  uint64_t cols = 0;         // d
  uint64_t table_bytes = 0;  // of the embedding, as stored
  uint64_t head_bytes = 0;   // of a head of its own; 0 where tied
  uint64_t file_bytes = 0;   // of all tensors; 0 where not known
};

// One format of the list: rows · cols / block size · block bytes, scales and other block metadata included.
struct FormatCost {
  std::string_view format;
  uint64_t bytes = 0;
};
// E ≈ A · B with A [V, k], B [k, d], at the bits per weight that the table has now.
struct FactorCost {
  uint64_t rank = 0;        // k
  uint64_t parameters = 0;  // V · k + k · d
  uint64_t bytes = 0;
};

struct MemoryBill {
  uint64_t parameters = 0;             // V · d
  uint64_t bytes = 0;                  // embedding and head
  double bits_per_weight = 0;          // of the embedding
  double share_of_file = 0;            // embedding and head, 0 … 1; 0 where the file's size is not known
  uint64_t saved_by_tying = 0;         // what a second table of the same size costs, or would cost
  std::vector<FormatCost> formats;     // those that a row of d weights divides into, in the order of the list
  std::vector<FactorCost> factorized;  // ranks d/2, d/4, d/8, as far as they save anything
  uint64_t break_even_rank = 0;        // the first rank that saves nothing: ⌈V · d / (V + d)⌉
};

// kLimit where V · d or a byte count passes 2⁶⁴.
Result<MemoryBill> memory_bill(const BillInput& input);

}  // namespace id2vec

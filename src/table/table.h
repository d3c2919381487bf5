// A table E [V, d] in the format of its file, and the two things one does with it: read rows (lookup) and dot
// rows (logits, top-k). The table owns its bytes; a loader writes them once, straight to their final address.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/bytes.h"
#include "core/status.h"
#include "formats/catalog.h"
#include "kernels/kernels.h"

namespace id2vec {

struct TableSpec {
  const Dtype* dtype = nullptr;  // a format of the list
  uint64_t rows = 0;             // V
  uint32_t cols = 0;             // d
  AffineSpec affine{};           // affine formats only
};

// Filled by top_k. Where fewer than k ids compete, the rest is −∞ with index −1.
struct TopK {
  float* values = nullptr;       // [N, k], descending
  int32_t* indices = nullptr;    // [N, k]: ids
  float* log_sum_exp = nullptr;  // [N]: ln Σ exp(score) over all that compete; null: not asked for
};

// Which ids compete in logits and top-k. Ids ≥ limit (rows beyond the tokenizer) score −∞ and never win.
struct Candidates {
  std::span<const uint32_t> only{};  // these ids alone, in this order; empty: all
  uint64_t limit = UINT64_MAX;
};

// Scores that were just computed, on their way out: scores[n · stride + i] belongs to hidden vector n and to id
// rows[i].
struct ScoreBlock {
  RowSet rows;
  size_t vectors = 0;  // N
  float* scores = nullptr;
  size_t stride = 0;
};

// What the output stage does to scores before they are ranked or handed out (scale, softcap, bias, mask by −∞).
struct Finish {
  void (*apply)(const void* context, const ScoreBlock& block) = nullptr;
  const void* context = nullptr;
};

class Table {
 public:
  // Reserves memory for every plane, uninitialised. kInvalidArgument where d does not fit the block size,
  // kLimit past the address space, kOutOfMemory where the allocator says no.
  static Result<std::unique_ptr<Table>> allocate(const TableSpec& spec, const KernelTable& kernels);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const TableSpec& spec() const { return spec_; }
  const TableView& view() const { return view_; }
  const KernelTable& kernels() const { return *kernels_; }
  // Where the loader writes plane `index`: rows contiguous; 64-byte aligned. Empty where
  // the format has no such plane.
  MutableBytes plane(size_t index);
  uint64_t bytes() const;  // of all planes

  // out [N, d] = E[ids]. kOutOfRange (naming id, position and V) before anything is written.
  Status lookup(std::span<const uint32_t> ids, std::span<float> out) const;
  // out [N, V] (or [N, candidates]) = hidden · Eᵀ, hidden [N, d].
  Status logits(std::span<const float> hidden, Precision precision, const Candidates& candidates,
                std::span<float> out, Finish finish = {}) const;
  // The k best per vector, fused into the row loop: no [N, V] array. Ties go to the lower id; NaN and −∞ never
  // win.
  Status top_k(std::span<const float> hidden, size_t k, Precision precision, const Candidates& candidates,
               TopK out, Finish finish = {}) const;

 private:
  Table() = default;
  const FormatKernels& format() const { return kernels_->formats[spec_.dtype->format]; }
  Status check(std::span<const float> hidden, const Candidates& candidates) const;

  TableSpec spec_;
  TableView view_;
  const KernelTable* kernels_ = nullptr;
  uint8_t* memory_ = nullptr;
};

}  // namespace id2vec

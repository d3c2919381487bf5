#include "table/table.h"

#include <algorithm>
#include <new>

#include "core/text.h"
#include "table/best.h"
#include "table/scratch.h"

namespace id2vec {
namespace {

constexpr size_t kAlignment = Scratch::kAlignment;

// Rows that are computed before their scores are looked at. Long blocks let the kernels stream; but where several
// vectors meet the rows, these should stay in the second-level cache, and the scores in the first.
// No powers of two: kernels walk four quarters of a block at once, and quarters that are whole pages apart compete for
// the same places in the first-level cache (Q5_0 with d = 768: 3.9 ms instead of 2.6 ms for 50257 rows).
constexpr size_t kRowBytes = 512 * 1024, kScoreBytes = 16 * 1000, kMinBlockRows = 16, kMaxBlockRows = 4000;

size_t block_rows(const TableView& table, size_t vectors) {
  size_t row_bytes = 0;
  for (const Plane& plane : table.planes) row_bytes += plane.row_bytes;
  size_t rows = kScoreBytes / sizeof(float) / std::max<size_t>(vectors, 1);
  if (vectors > 1) rows = std::min(rows, kRowBytes / row_bytes);
  return std::clamp(rows, kMinBlockRows, kMaxBlockRows) / 4 * 4;  // kernels take four rows at a time
}

Result<size_t> row_bytes_of(const TableSpec& spec) {
  const Dtype& dtype = *spec.dtype;
  if (dtype.format < 0) return fail(Code::kUnsupported, dtype.name, " is no format of a table.");
  if (spec.cols == 0 || spec.cols % dtype.block_size != 0) {
    return fail(Code::kInvalidArgument, "A row of ", spec.cols, " weights cannot be ", dtype.name,
                ": its blocks hold ", dtype.block_size, " weights.");
  }
  const std::optional<uint64_t> bytes = checked_mul(spec.cols / dtype.block_size, dtype.block_bytes);
  return static_cast<size_t>(*bytes);  // both factors have 32 bits
}

// A kernel takes 16 weights at a time with one scale, so a group may end inside a row only at a multiple of 16.
Status check_groups(const TableSpec& spec) {
  const uint32_t group_size = spec.affine.group_size;
  if (group_size >= spec.cols || (group_size != 0 && group_size % 16 == 0)) return {};
  return fail(Code::kUnsupported, "Groups of ", group_size, " weights per scale are not supported in ",
              spec.dtype->name, ": the group size must be a multiple of 16 or cover the row of ", spec.cols,
              ".");
}

// Bytes per row of every plane; a shared scale or offset counts for each row here.
struct RowBytes {
  std::array<size_t, 3> planes{};
  uint64_t sum() const { return uint64_t(planes[0]) + planes[1] + planes[2]; }
};

Result<RowBytes> all_row_bytes(const TableSpec& spec) {
  ID2VEC_ASSIGN(const size_t quants, row_bytes_of(spec));
  if (!spec.dtype->planar) return RowBytes{{quants, 0, 0}};
  ID2VEC_RETURN_IF_ERROR(check_groups(spec));
  const uint32_t bits = spec.dtype->block_bytes * 8 / spec.dtype->block_size;
  const AffineRowBytes bytes = affine_row_bytes(spec.affine, bits, spec.cols);
  return RowBytes{{quants, bytes.scales, bytes.offsets}};
}

Status no_memory(uint64_t bytes, std::string_view what) {
  return fail(Code::kOutOfMemory, "There is no memory for ", bytes, " bytes of ", what, ".");
}

// The rows that a call is about, in the order of its output.
RowSet all_rows(const TableView& table, const Candidates& candidates) {
  if (candidates.only.empty()) return {0, static_cast<size_t>(table.rows), nullptr};
  return {0, candidates.only.size(), candidates.only.data()};
}

// −∞ for ids ≥ limit.
void mask_beyond(uint64_t limit, const ScoreBlock& block) {
  if (block.rows.ids == nullptr && block.rows.first + block.rows.count <= limit) return;
  for (size_t i = 0; i < block.rows.count; ++i) {
    if (block.rows[i] < limit) continue;
    for (size_t n = 0; n < block.vectors; ++n) block.scores[n * block.stride + i] = Best::kNone;
  }
}

// One call of logits or top_k: the activations, prepared once, and the walk over blocks of rows.
class Scoring {
 public:
  Scoring(const TableView& table, const FormatKernels& kernels, std::span<const float> hidden,
          Precision precision)
      : table_(table),
        kernels_(kernels),
        precision_(precision),
        activations_{hidden.data(), hidden.size() / table.cols, nullptr},
        scratch_bytes_(kernels.scratch_bytes(table, activations_.count, precision)),
        scratch_(scratch_bytes_) {}

  Status prepare() {
    if (scratch_.data() == nullptr) return no_memory(scratch_bytes_, "prepared hidden vectors");
    kernels_.prepare(table_, activations_.hidden, activations_.count, precision_, scratch_.data());
    activations_.scratch = scratch_.data();
    return {};
  }

  size_t vectors() const { return activations_.count; }

  // Scores of `rows`, finished, at `out`.
  ScoreBlock score(const RowSet& rows, uint64_t limit, const Finish& finish, float* out,
                   size_t stride) const {
    kernels_.dot(table_, rows, activations_, precision_, out, stride);
    const ScoreBlock block{rows, vectors(), out, stride};
    if (finish.apply != nullptr) finish.apply(finish.context, block);
    mask_beyond(limit, block);
    return block;
  }

 private:
  const TableView& table_;
  const FormatKernels& kernels_;
  Precision precision_;
  Activations activations_;
  size_t scratch_bytes_;
  Scratch scratch_;
};

void rank(const float* scores, const RowSet& rows, Best& best) {
  float threshold = best.threshold();
  for (size_t i = 0; i < rows.count; ++i) {
    if (!(scores[i] >= threshold)) continue;
    best.offer(scores[i], static_cast<uint32_t>(rows[i]));
    threshold = best.threshold();
  }
}

// The best of every hidden vector, and room for the scores of one block of rows; all in one piece of scratch.
class Ranking {
 public:
  Ranking(size_t vectors, size_t k, size_t block_rows)
      : vectors_(vectors),
        k_(k),
        stride_(block_rows),
        bytes_(bytes(vectors, k, block_rows)),
        scratch_(bytes_) {}

  Status start(bool with_sums) {
    if (bytes_ == kTooMany || scratch_.data() == nullptr) return no_memory(bytes_, "the best scores");
    best_ = reinterpret_cast<Best*>(scratch_.data());
    sums_ = reinterpret_cast<LogSumExp*>(best_ + vectors_);
    Scored* slots = reinterpret_cast<Scored*>(sums_ + vectors_);
    scores_ = reinterpret_cast<float*>(slots + vectors_ * k_);
    for (size_t n = 0; n < vectors_; ++n) {
      new (best_ + n) Best(slots + n * k_, k_);
      new (sums_ + n) LogSumExp();
    }
    with_sums_ = with_sums;
    return {};
  }

  float* scores() const { return scores_; }
  size_t stride() const { return stride_; }

  void add(const ScoreBlock& block) {
    for (size_t n = 0; n < vectors_; ++n) {
      rank(block.scores + n * block.stride, block.rows, best_[n]);
      if (with_sums_) sums_[n].add(block.scores + n * block.stride, block.rows.count);
    }
  }

  void write(size_t k, TopK out) {
    for (size_t n = 0; n < vectors_; ++n) {
      best_[n].write(out.values + n * k, out.indices + n * k, k);
      if (with_sums_) out.log_sum_exp[n] = sums_[n].value();
    }
  }

 private:
  static constexpr size_t kTooMany = SIZE_MAX / 2;

  static size_t bytes(size_t vectors, size_t k, size_t block_rows) {
    const uint64_t each =
        sizeof(Best) + sizeof(LogSumExp) + uint64_t(k) * sizeof(Scored) + block_rows * sizeof(float);
    const std::optional<uint64_t> all = checked_mul(vectors, each);
    return all && *all < kTooMany ? static_cast<size_t>(*all) : kTooMany;
  }
  static_assert(alignof(Best) <= 8 && alignof(LogSumExp) <= 8 && sizeof(LogSumExp) % 8 == 0);

  size_t vectors_;
  size_t k_;
  size_t stride_;
  size_t bytes_;
  Scratch scratch_;
  Best* best_ = nullptr;
  LogSumExp* sums_ = nullptr;
  float* scores_ = nullptr;
  bool with_sums_ = false;
};

}  // namespace

Result<std::unique_ptr<Table>> Table::allocate(const TableSpec& spec, const KernelTable& kernels) {
  ID2VEC_ASSIGN(const RowBytes row_bytes, all_row_bytes(spec));
  const std::optional<uint64_t> bytes = checked_mul(spec.rows, row_bytes.sum());
  constexpr size_t kPadding = 4 * kAlignment;  // one per plane, and one for the start
  if (!bytes || *bytes > SIZE_MAX - kPadding || spec.rows > INT32_MAX) {
    return fail(Code::kLimit, "A table of ", spec.rows, " rows of ", row_bytes.sum(),
                " bytes does not fit the address space; try `residency: 'workers'` or 'remote'.");
  }
  std::unique_ptr<Table> table(new Table);
  table->memory_ = static_cast<uint8_t*>(std::malloc(static_cast<size_t>(*bytes) + kPadding));
  if (table->memory_ == nullptr) return no_memory(*bytes, "the table");
  table->spec_ = spec;
  table->kernels_ = &kernels;
  table->view_.rows = spec.rows;
  table->view_.cols = spec.cols;
  table->view_.affine = spec.affine;
  uint8_t* end = table->memory_;
  for (size_t i = 0; i < row_bytes.planes.size() && row_bytes.planes[i] != 0; ++i) {
    end += kAlignment - reinterpret_cast<uintptr_t>(end) % kAlignment;
    const bool shared = i != 0 && spec.affine.per_tensor;
    const size_t plane_bytes = row_bytes.planes[i] * static_cast<size_t>(shared ? 1 : spec.rows);
    table->view_.planes[i] = {end, shared ? 0 : row_bytes.planes[i], plane_bytes};
    end += plane_bytes;
  }
  return table;
}

Table::~Table() { std::free(memory_); }

MutableBytes Table::plane(size_t index) {
  const Plane& plane = view_.planes[index];
  return {const_cast<uint8_t*>(plane.data), plane.bytes};
}

uint64_t Table::bytes() const {
  uint64_t bytes = 0;
  for (const Plane& plane : view_.planes) bytes += plane.bytes;
  return bytes;
}

Status Table::lookup(std::span<const uint32_t> ids, std::span<float> out) const {
  if (out.size() / view_.cols < ids.size()) {
    return fail(Code::kInvalidArgument, "The output holds ", out.size(), " numbers, but ", ids.size(),
                " rows of ", view_.cols, " were asked for.");
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < view_.rows) continue;
    return fail(Code::kOutOfRange, "Id ", ids[i], " at position ", i, " is outside the table's ", view_.rows,
                " rows.");
  }
  format().gather(view_, ids.data(), ids.size(), out.data());
  return {};
}

Status Table::check(std::span<const float> hidden, const Candidates& candidates) const {
  if (hidden.size() % view_.cols != 0) {
    return fail(Code::kInvalidArgument, hidden.size(),
                " hidden values are no whole number of vectors of width ", view_.cols, ".");
  }
  for (size_t i = 0; i < candidates.only.size(); ++i) {
    if (candidates.only[i] < view_.rows) continue;
    return fail(Code::kOutOfRange, "Candidate ", candidates.only[i], " at position ", i,
                " is outside the table's ", view_.rows, " rows.");
  }
  return {};
}

Status Table::logits(std::span<const float> hidden, Precision precision, const Candidates& candidates,
                     std::span<float> out, Finish finish) const {
  ID2VEC_RETURN_IF_ERROR(check(hidden, candidates));
  const RowSet rows = all_rows(view_, candidates);
  Scoring scoring(view_, format(), hidden, precision);
  if (rows.count != 0 && out.size() / rows.count < scoring.vectors()) {
    return fail(Code::kInvalidArgument, "The output holds ", out.size(), " numbers, but ", scoring.vectors(),
                " vectors have ", rows.count, " logits each.");
  }
  ID2VEC_RETURN_IF_ERROR(scoring.prepare());
  const size_t step = block_rows(view_, scoring.vectors());
  for (size_t i = 0; i < rows.count; i += step) {
    const RowSet block = rows.slice(i, std::min(step, rows.count - i));
    scoring.score(block, candidates.limit, finish, out.data() + i, rows.count);
  }
  return {};
}

Status Table::top_k(std::span<const float> hidden, size_t k, Precision precision,
                    const Candidates& candidates, TopK out, Finish finish) const {
  ID2VEC_RETURN_IF_ERROR(check(hidden, candidates));
  const RowSet rows = all_rows(view_, candidates);
  Scoring scoring(view_, format(), hidden, precision);
  ID2VEC_RETURN_IF_ERROR(scoring.prepare());

  Ranking ranking(scoring.vectors(), std::min(k, rows.count), block_rows(view_, scoring.vectors()));
  ID2VEC_RETURN_IF_ERROR(ranking.start(out.log_sum_exp != nullptr));
  for (size_t i = 0; i < rows.count; i += ranking.stride()) {
    const RowSet block = rows.slice(i, std::min(ranking.stride(), rows.count - i));
    ranking.add(scoring.score(block, candidates.limit, finish, ranking.scores(), ranking.stride()));
  }
  ranking.write(k, out);
  return {};
}

}  // namespace id2vec

#include "tools/quantize.h"

#include <cmath>

#include "core/text.h"
#include "table/scratch.h"
#include "tools/encoders.h"

namespace id2vec {
namespace {

// Rows whose best logit is compared: each costs one pass over both tables.
constexpr uint64_t kSampledRows = 64;

struct Fallback {
  std::string_view wanted, instead;
};
constexpr Fallback kFallbacks[] = {{"Q4_K", "Q5_0"}, {"Q6_K", "Q8_0"}};

std::string_view fallback_of(std::string_view dtype) {
  for (const Fallback& fallback : kFallbacks) {
    if (fallback.wanted == dtype) return fallback.instead;
  }
  return "F16";
}

Status no_memory(uint32_t cols) {
  return fail(Code::kOutOfMemory, "There is no memory for rows of ", cols, " floats.");
}

// ‖e‖², ‖e − ê‖² and ⟨e, ê⟩ of one row or of a whole table.
struct Moments {
  double source = 0, quantized = 0, difference = 0, product = 0;

  void add(double a, double b) {
    source += a * a;
    quantized += b * b;
    difference += (a - b) * (a - b);
    product += a * b;
  }
  void add(const Moments& row) {
    source += row.source;
    difference += row.difference;
  }
  // 0 / 0 counts as no error; an error where there was nothing is infinite.
  double relative_error() const { return difference == 0 ? 0 : std::sqrt(difference / source); }
};

Status compare_rows(const Table& source, const Table& quantized, QuantizeReport& report) {
  const uint32_t cols = source.spec().cols;
  Scratch scratch(size_t(cols) * 2 * sizeof(float));
  if (scratch.data() == nullptr) return no_memory(cols);
  float* before = reinterpret_cast<float*>(scratch.data());
  float* after = before + cols;
  Moments all;
  double cosines = 0;
  uint64_t directed = 0;
  for (uint32_t row = 0; row < source.spec().rows; ++row) {
    ID2VEC_RETURN_IF_ERROR(source.lookup({&row, 1}, {before, cols}));
    ID2VEC_RETURN_IF_ERROR(quantized.lookup({&row, 1}, {after, cols}));
    Moments moments;
    for (uint32_t i = 0; i < cols; ++i) moments.add(before[i], after[i]);
    all.add(moments);
    if (moments.relative_error() > report.worst_row_error) {
      report.worst_row = row;
      report.worst_row_error = moments.relative_error();
    }
    if (moments.source == 0) continue;
    if (moments.quantized != 0) cosines += moments.product / std::sqrt(moments.source * moments.quantized);
    ++directed;
  }
  report.relative_error = all.relative_error();
  if (directed != 0) report.mean_cosine = cosines / double(directed);
  return {};
}

// The id whose logit is largest for the hidden vector `hidden`; −1 if there is none.
Result<int32_t> best_id(const Table& table, std::span<const float> hidden) {
  float value;
  int32_t id = -1;
  ID2VEC_RETURN_IF_ERROR(table.top_k(hidden, 1, Precision::kHigh, {}, {&value, &id}));
  return id;
}

Status compare_best_ids(const Table& source, const Table& quantized, QuantizeReport& report) {
  const uint32_t cols = source.spec().cols;
  const uint64_t rows = source.spec().rows;
  Scratch scratch(size_t(cols) * sizeof(float));
  if (scratch.data() == nullptr) return no_memory(cols);
  const std::span<float> hidden(reinterpret_cast<float*>(scratch.data()), cols);
  const uint64_t samples = std::min(rows, kSampledRows);
  uint64_t agreeing = 0;
  for (uint64_t i = 0; i < samples; ++i) {
    const uint32_t row = uint32_t(i * rows / samples);
    ID2VEC_RETURN_IF_ERROR(source.lookup({&row, 1}, hidden));
    ID2VEC_ASSIGN(const int32_t before, best_id(source, hidden));
    ID2VEC_ASSIGN(const int32_t after, best_id(quantized, hidden));
    agreeing += before == after;
  }
  report.sampled_rows = uint32_t(samples);
  if (samples != 0) report.top1_agreement = double(agreeing) / double(samples);
  return {};
}

Status encode_rows(const Table& source, const Encoder& encoder, const Table& target,
                   std::span<float> row_values) {
  const auto& planes = target.view().planes;
  for (uint32_t row = 0; row < source.spec().rows; ++row) {
    ID2VEC_RETURN_IF_ERROR(source.lookup({&row, 1}, row_values));
    RowPlanes out;
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = const_cast<uint8_t*>(planes[i].data) + row * planes[i].row_bytes;
    }
    encoder.encode(row_values.data(), row_values.size(), out);
  }
  return {};
}

}  // namespace

const Dtype* encodable_dtype(const Dtype& wanted, uint32_t cols) {
  const Dtype* dtype = wanted.name == "I8" ? dtype_by_name("AFFINE_8") : &wanted;
  if (encoder_for(dtype->name) == nullptr) return nullptr;
  while (cols % dtype->block_size != 0) dtype = dtype_by_name(fallback_of(dtype->name));
  return dtype;
}

Result<std::unique_ptr<Table>> quantize_table(const Table& source, const Dtype& to) {
  const Encoder* encoder = encoder_for(to.name);
  if (encoder == nullptr) return fail(Code::kUnsupported, "id2vec cannot write tables as ", to.name, ".");
  const uint32_t cols = source.spec().cols;
  TableSpec spec{&to, source.spec().rows, cols, {}};
  if (to.planar) spec.affine = row_int8_spec(cols);
  ID2VEC_ASSIGN(std::unique_ptr<Table> table, Table::allocate(spec, source.kernels()));
  Scratch scratch(size_t(cols) * sizeof(float));
  if (scratch.data() == nullptr) return no_memory(cols);
  ID2VEC_RETURN_IF_ERROR(
      encode_rows(source, *encoder, *table, {reinterpret_cast<float*>(scratch.data()), cols}));
  return table;
}

Result<QuantizeReport> compare_tables(const Table& source, const Table& quantized) {
  const TableSpec &a = source.spec(), &b = quantized.spec();
  if (a.rows != b.rows || a.cols != b.cols) {
    return fail(Code::kInvalidArgument, "Tables of shape [", a.rows, ", ", a.cols, "] and [", b.rows, ", ",
                b.cols, "] cannot be compared.");
  }
  QuantizeReport report;
  report.source_bytes = source.bytes();
  report.bytes = quantized.bytes();
  ID2VEC_RETURN_IF_ERROR(compare_rows(source, quantized, report));
  ID2VEC_RETURN_IF_ERROR(compare_best_ids(source, quantized, report));
  return report;
}

}  // namespace id2vec

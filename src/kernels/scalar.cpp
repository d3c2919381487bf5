// The definition: every weight through value(), every dot product summed in double.
#include "formats/formats.h"
#include "kernels/decode.h"
#include "kernels/tables.h"

namespace id2vec {
namespace {

// Hidden vectors that share one decoding of a row.
constexpr size_t kVectors = 8;

// sums[n] = ⟨hidden n, row⟩ for n < count ≤ kVectors.
void dot_row(Decode decode, const TableView& table, uint64_t row, const float* hidden, size_t count,
             double* sums) {
  std::fill_n(sums, count, 0.0);
  float weights[kPiece];
  for (uint32_t first = 0; first < table.cols; first += kPiece) {
    const uint32_t length = std::min(kPiece, table.cols - first);
    decode(table, row, first, length, weights);
    for (size_t n = 0; n < count; ++n) {
      const float* x = hidden + n * table.cols + first;
      for (uint32_t i = 0; i < length; ++i) sums[n] += double(weights[i]) * double(x[i]);
    }
  }
}

void dot(const FormatKernels& format, const TableView& table, const RowSet& rows,
         const Activations& activations, Precision, float* out, size_t stride) {
  for (size_t n = 0; n < activations.count; n += kVectors) {
    const size_t count = std::min(kVectors, activations.count - n);
    for (size_t i = 0; i < rows.count; ++i) {
      double sums[kVectors];
      dot_row(format.decode, table, rows[i], activations.hidden + n * table.cols, count, sums);
      for (size_t j = 0; j < count; ++j) out[(n + j) * stride + i] = float(sums[j]);
    }
  }
}

template <class... F>
constexpr std::array<FormatKernels, sizeof...(F)> kernels_of(FormatList<F...>) {
  return {FormatKernels{gather_decoded, no_scratch, no_preparation, dot, decode_values<F>}...};
}

constexpr auto kFormats = kernels_of(Formats{});

}  // namespace

const KernelTable kScalarKernels{"scalar", kFormats.data()};

}  // namespace id2vec

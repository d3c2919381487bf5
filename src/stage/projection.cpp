#include "stage/projection.h"

#include <algorithm>

#include "core/text.h"
#include "stage/checks.h"
#include "stage/values.h"

namespace id2vec {
namespace {

constexpr size_t kTileRows = 32;  // of P at a time: 32 rows of 4096 floats are 512 KB

Status project_transposed(const Table& matrix, std::span<const float> x, size_t count, std::span<float> y) {
  const size_t in = matrix.spec().rows, out = matrix.spec().cols;
  ID2VEC_ASSIGN(auto rows, Values<float>::of(kTileRows * out));
  std::fill(y.begin(), y.end(), 0.0f);
  uint32_t ids[kTileRows];
  for (size_t first = 0; first < in; first += kTileRows) {
    const size_t n = std::min(kTileRows, in - first);
    for (size_t i = 0; i < n; ++i) ids[i] = static_cast<uint32_t>(first + i);
    ID2VEC_RETURN_IF_ERROR(matrix.lookup({ids, n}, rows.first(n * out)));
    for (size_t v = 0; v < count; ++v) {
      float* sum = y.data() + v * out;
      for (size_t i = 0; i < n; ++i) {
        const float factor = x[v * in + first + i];
        const float* row = rows.data() + i * out;
        for (size_t c = 0; c < out; ++c) sum[c] += factor * row[c];
      }
    }
  }
  return {};
}

}  // namespace

Status check_projection(const Projection& projection, size_t width) {
  if (!projection) return {};
  if (projection.input_width() != width) {
    return fail(Code::kInvalidArgument, "The projection takes vectors of width ", projection.input_width(),
                ", but is given vectors of width ", width, ".");
  }
  if (projection.bias.empty()) return {};
  return check_length("The projection's bias", projection.bias.size(), projection.output_width(),
                      "its output");
}

Status project(const Projection& projection, std::span<const float> x, size_t count, std::span<float> y) {
  if (projection.transposed) {
    ID2VEC_RETURN_IF_ERROR(project_transposed(*projection.matrix, x, count, y));
  } else {
    ID2VEC_RETURN_IF_ERROR(projection.matrix->logits(x, Precision::kHigh, {}, y));
  }
  const size_t width = projection.output_width();
  if (projection.bias.empty()) return {};
  for (size_t v = 0; v < count; ++v) {
    for (size_t c = 0; c < width; ++c) y[v * width + c] += projection.bias[c];
  }
  return {};
}

}  // namespace id2vec

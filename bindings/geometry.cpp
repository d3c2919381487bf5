// The geometry of vectors, as JavaScript asks for it. Arrays are addresses and counts.
#include "geometry.h"

#include "border.h"
#include "search/nearest.h"
#include "search/similarity.h"
#include "stage/pool.h"

namespace id2vec {
namespace {

// out [d].
Status target_of_analogy(const Table& table, uintptr_t positive, size_t n_positive, uintptr_t negative,
                         size_t n_negative, uintptr_t out) {
  return analogy_target(table, span_at<const uint32_t>(positive, n_positive),
                        span_at<const uint32_t>(negative, n_negative),
                        span_at<float>(out, table.spec().cols));
}

// vectors [count, width] → out [count, count].
Status similarity(uintptr_t vectors, size_t count, size_t width, int metric, uintptr_t out) {
  return similarity_matrix(span_at<const float>(vectors, count * width), width, static_cast<Metric>(metric),
                           span_at<float>(out, count * count));
}

// vectors [count, width] → out [count, 2], explained [2].
Status plane(uintptr_t vectors, size_t count, size_t width, uintptr_t out, uintptr_t explained) {
  return principal_plane(span_at<const float>(vectors, count * width), width, span_at<float>(out, count * 2),
                         span_at<float>(explained, 2));
}

// counts: double [count], or 0 to estimate frequencies from ranks; weights: float [count].
Status smooth_inverse_frequency(uintptr_t counts, size_t count, double a, uintptr_t weights) {
  const auto to = span_at<float>(weights, count);
  return counts == 0 ? sif_weights_by_rank(a, to) : sif_weights(span_at<const double>(counts, count), a, to);
}

}  // namespace

void register_geometry() {
  bind<&target_of_analogy>("analogyTarget");
  bind<&similarity>("similarity");
  bind<&plane>("principalPlane");
  bind<&smooth_inverse_frequency>("sifWeights");
}

}  // namespace id2vec

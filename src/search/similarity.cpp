#include "search/similarity.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "stage/checks.h"
#include "stage/norm.h"
#include "stage/values.h"

namespace id2vec {
namespace {

template <class A, class B>
double dot(const A* a, const B* b, size_t width) {
  double lane[4] = {};
  size_t i = 0;
  for (; i + 4 <= width; i += 4) {
    for (size_t j = 0; j < 4; ++j) lane[j] += static_cast<double>(a[i + j]) * static_cast<double>(b[i + j]);
  }
  for (size_t j = 0; i < width; ++i, ++j) lane[j] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

double compare(Metric metric, double product, double a_squared, double b_squared) {
  switch (metric) {
    case Metric::kDot: return product;
    case Metric::kCosine: {
      const double lengths = std::sqrt(a_squared) * std::sqrt(b_squared);
      return lengths > 0 ? product / lengths : 0;
    }
    case Metric::kEuclidean: return std::sqrt(std::max(0.0, a_squared + b_squared - 2 * product));
  }
  return product;
}

Status check_vectors(std::span<const float> vectors, size_t width) {
  if (width > 0 && vectors.size() % width == 0) return {};
  return fail(Code::kInvalidArgument, vectors.size(), " values are no whole number of vectors of width ",
              width, ".");
}

constexpr size_t kAxes = 2;
constexpr int kRounds = 300;
constexpr double kTurn = 1e-15;  // 1 − cosine: an angle of 5e-8

// The centred vectors, and the two directions.
class Plane2d {
 public:
  static Result<Plane2d> of(std::span<const float> vectors, size_t width) {
    Plane2d plane;
    plane.width_ = width;
    plane.count_ = vectors.size() / width;
    ID2VEC_ASSIGN(plane.centred_, Values<float>::of(vectors.size()));
    ID2VEC_ASSIGN(plane.axes_, Values<double>::of(kAxes * width));
    ID2VEC_ASSIGN(plane.next_, Values<double>::of(kAxes * width));
    plane.centre(vectors);
    return plane;
  }

  void iterate() {
    // Any two independent directions that are not by chance at right angles to the leading ones.
    for (size_t c = 0; c < width_; ++c) {
      axes_[c] = 1.0 / static_cast<double>(c + 1);
      axes_[width_ + c] = c % 2 == 0 ? 1.0 : -0.5;
    }
    orthonormalize(axes_.data());
    for (int round = 0; round < kRounds; ++round) {
      for (size_t a = 0; a < kAxes; ++a) apply(axes_.data() + a * width_, next_.data() + a * width_);
      orthonormalize(next_.data());
      double turned = 0;
      for (size_t a = 0; a < kAxes; ++a) {
        const double cosine = dot(axes_.data() + a * width_, next_.data() + a * width_, width_);
        turned = std::max(turned, 1 - std::fabs(cosine));
      }
      std::swap(axes_, next_);
      if (turned < kTurn) break;
    }
  }

  void write(std::span<float> out, std::span<float> explained) {
    double total = 0;
    for (size_t n = 0; n < count_; ++n) total += sum_of_squares(centred_.data() + n * width_, width_);
    for (size_t a = 0; a < kAxes; ++a) {
      double least = 0, most = 0, held = 0;
      for (size_t n = 0; n < count_; ++n) {
        const double at = dot(centred_.data() + n * width_, axes_.data() + a * width_, width_);
        out[n * kAxes + a] = static_cast<float>(at);
        held += at * at;
        least = std::min(least, at);
        most = std::max(most, at);
      }
      explained[a] = total > 0 ? static_cast<float>(held / total) : 0.0f;
      if (most >= -least) continue;
      for (size_t n = 0; n < count_; ++n) out[n * kAxes + a] = -out[n * kAxes + a];
    }
  }

 private:
  void centre(std::span<const float> vectors) {
    for (size_t c = 0; c < width_; ++c) {
      double mean = 0;
      for (size_t n = 0; n < count_; ++n) mean += vectors[n * width_ + c];
      mean /= static_cast<double>(count_);
      for (size_t n = 0; n < count_; ++n) {
        centred_[n * width_ + c] = static_cast<float>(vectors[n * width_ + c] - mean);
      }
    }
  }

  // y = XᵀX · x
  void apply(const double* x, double* y) const {
    std::fill(y, y + width_, 0.0);
    for (size_t n = 0; n < count_; ++n) {
      const float* row = centred_.data() + n * width_;
      const double at = dot(row, x, width_);
      for (size_t c = 0; c < width_; ++c) y[c] += at * row[c];
    }
  }

  void orthonormalize(double* axes) const {
    double* second = axes + width_;
    scale(axes);
    const double along = dot(axes, second, width_);
    for (size_t c = 0; c < width_; ++c) second[c] -= along * axes[c];
    scale(second);
  }
  void scale(double* axis) const {
    const double length = std::sqrt(dot(axis, axis, width_));
    if (length > 0) {
      for (size_t c = 0; c < width_; ++c) axis[c] /= length;
    }
  }

  size_t width_ = 0, count_ = 0;
  Values<float> centred_;
  Values<double> axes_, next_;
};

}  // namespace

Status similarity_matrix(std::span<const float> vectors, size_t width, Metric metric, std::span<float> out) {
  ID2VEC_RETURN_IF_ERROR(check_vectors(vectors, width));
  const size_t count = vectors.size() / width;
  ID2VEC_RETURN_IF_ERROR(check_length("out", out.size(), count * count, "[N, N]"));
  ID2VEC_ASSIGN(auto squared, Values<double>::of(count));
  for (size_t i = 0; i < count; ++i) squared[i] = sum_of_squares(vectors.data() + i * width, width);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const double product = dot(vectors.data() + i * width, vectors.data() + j * width, width);
      out[i * count + j] = out[j * count + i] =
          static_cast<float>(compare(metric, product, squared[i], squared[j]));
    }
  }
  return {};
}

Status principal_plane(std::span<const float> vectors, size_t width, std::span<float> out,
                       std::span<float> explained) {
  ID2VEC_RETURN_IF_ERROR(check_vectors(vectors, width));
  const size_t count = vectors.size() / width;
  if (count < 2)
    return fail(Code::kInvalidArgument, "A plane needs two vectors or more, and was given ", count, ".");
  ID2VEC_RETURN_IF_ERROR(check_length("out", out.size(), count * kAxes, "[N, 2]"));
  ID2VEC_RETURN_IF_ERROR(check_length("explained", explained.size(), kAxes, "two axes"));
  ID2VEC_ASSIGN(Plane2d plane, Plane2d::of(vectors, width));
  plane.iterate();
  plane.write(out, explained);
  return {};
}

}  // namespace id2vec

#include "core/elementary.h"

#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>

namespace id2vec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ln 2 in two parts: a multiple of the first by an integer of 11 bits is exact.
constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;

// r · coth(r / 2) of r² up to (ln 2 / 2)², by its Taylor series. With it, eʳ − 1 = 2r / (r · coth(r / 2) − r), and
// tanh x = 2x / (2x · coth x): nothing cancels.
double r_coth_half(double square) {
  double sum = -691.0 / 653837184000;
  for (const double coefficient : {1.0 / 23950080, -1.0 / 604800, 1.0 / 15120, -1.0 / 360, 1.0 / 6, 2.0}) {
    sum = sum * square + coefficient;
  }
  return sum;
}

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

}  // namespace

double exponential(double x) {
  if (!(x < 710)) return x > 0 ? kInfinity : x;
  if (x < -746) return 0;
  const double k = std::nearbyint(x / std::numbers::ln2);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  // In two factors, since 2^1024 and 2^−1074 are no normal numbers.
  const int exponent = static_cast<int>(k), half = exponent / 2;
  return (1 + 2 * r / (r_coth_half(r * r) - r)) * power_of_two(half) * power_of_two(exponent - half);
}

// ln(2ᵏ · m) = k · ln 2 + 2 · artanh((m − 1) / (m + 1)), with m between √½ and √2.
double logarithm(double x) {
  if (!(x > 0)) return x == 0 ? -kInfinity : std::numeric_limits<double>::quiet_NaN();
  if (x == kInfinity) return x;
  int k;
  double m = std::frexp(x, &k);
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --k;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double rest = 0;  // artanh(s) / s − 1
  for (int n = 23; n > 1; n -= 2) rest = (rest + 1.0 / n) * square;
  return k * kLn2High + (2 * s + (2 * s * rest + k * kLn2Low));
}

double hyperbolic_tangent(double x) {
  if (std::fabs(x) < std::numbers::ln2 / 4) return 2 * x / r_coth_half(4 * x * x);
  return 1 - 2 / (exponential(2 * x) + 1);
}

// ½ + φ(x) · (x + x³ / 3 + x⁵ / (3 · 5) + …), all of whose terms have the same sign.
double normal_share(double x) {
  if (!(std::fabs(x) < 9)) return x > 0 ? 1 : x < 0 ? 0 : x;
  constexpr double kDensity = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  const double square = x * x;
  double sum = 1;
  for (int n = 35 + 4 * static_cast<int>(square); n > 1; n -= 2) sum = 1 + square / n * sum;
  return 0.5 + kDensity * exponential(-square / 2) * x * sum;
}

// Cody and Waite: π/2 in three parts, of which the first two have so few bits that their products with the number of quarter
// turns are exact.
Direction direction(double angle) {
  constexpr double kHigh = 0x1.921fbp+0, kMiddle = 0x1.5110bp-22, kLow = 0x1.18469898cc517p-44;
  const double turns = std::nearbyint(angle / (std::numbers::pi / 2));
  const double r = ((angle - turns * kHigh) - turns * kMiddle) - turns * kLow;
  // Taylor series from their ends: sin r = r · (1 − r² / (2 · 3) · (1 − r² / (4 · 5) · (…))), and cos r alike.
  const double square = r * r;
  double sine = 1, cosine = 1;
  for (int n = 18; n > 0; n -= 2) {
    cosine = 1 - square / (n * (n - 1)) * cosine;
    sine = 1 - square / (n * (n + 1)) * sine;
  }
  sine *= r;
  switch (static_cast<int64_t>(turns) & 3) {
    case 0: return {sine, cosine};
    case 1: return {cosine, -sine};
    case 2: return {-sine, -cosine};
    default: return {-cosine, sine};
  }
}

double power(double base, uint64_t exponent) {
  double power = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) power *= base;
    base *= base;
  }
  return power;
}

}  // namespace id2vec

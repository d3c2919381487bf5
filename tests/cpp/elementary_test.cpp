#include "core/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace id2vec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// |value − exact| in units in the last place of the exact value.
double units(double value, long double exact) {
  const double near = std::fabs(static_cast<double>(exact));
  const double unit = std::nextafter(near, kInfinity) - near;
  return static_cast<double>(std::fabs(value - exact)) / unit;
}

// The greatest of f(x) over many x from `low` to `high`, evenly drawn.
template <class F>
double greatest(double low, double high, F f) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> draw(low, high);
  double most = std::max(f(low), f(high));
  for (int i = 0; i < 50'000; ++i) most = std::max(most, f(draw(random)));
  return most;
}

TEST(Elementary, ExponentialIsWithinTwoUnits) {
  const auto off = [](double x) { return units(exponential(x), std::exp(static_cast<long double>(x))); };
  EXPECT_LE(greatest(-1, 1, off), 2);
  EXPECT_LE(greatest(-708, 709.7, off), 2);
  EXPECT_LE(greatest(-745, -708, off), 1);  // subnormal
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-0.0), 1);
  EXPECT_EQ(exponential(710), kInfinity);
  EXPECT_EQ(exponential(kInfinity), kInfinity);
  EXPECT_EQ(exponential(-746), 0);
  EXPECT_EQ(exponential(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(exponential(std::nan(""))));
}

TEST(Elementary, LogarithmIsWithinTwoUnits) {
  const auto off = [](double x) { return units(logarithm(x), std::log(static_cast<long double>(x))); };
  EXPECT_LE(greatest(0.01, 2, off), 2);
  EXPECT_LE(greatest(1, 1e6, off), 2);
  EXPECT_LE(greatest(-1, 1, [&](double x) { return off(std::exp(700 * x)); }), 2);
  EXPECT_LE(off(5e-324), 2);
  EXPECT_EQ(logarithm(1), 0);
  EXPECT_EQ(logarithm(0), -kInfinity);
  EXPECT_EQ(logarithm(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(logarithm(-1)));
  EXPECT_TRUE(std::isnan(logarithm(std::nan(""))));
}

TEST(Elementary, HyperbolicTangentIsWithinTenUnits) {
  const auto off = [](double x) {
    return units(hyperbolic_tangent(x), std::tanh(static_cast<long double>(x)));
  };
  EXPECT_LE(greatest(-1, 1, off), 10);
  EXPECT_LE(greatest(-20, 20, off), 10);
  EXPECT_LE(greatest(-1e-6, 1e-6, off), 10);
  EXPECT_EQ(hyperbolic_tangent(1e300), 1);
  EXPECT_EQ(hyperbolic_tangent(-kInfinity), -1);
  EXPECT_EQ(hyperbolic_tangent(0), 0);
  EXPECT_TRUE(std::isnan(hyperbolic_tangent(std::nan(""))));
}

TEST(Elementary, NormalShareIsCloseEverywhere) {
  const auto off = [](double x) {
    const long double exact = 0.5L * std::erfc(-static_cast<long double>(x) / std::sqrt(2.0L));
    return static_cast<double>(std::fabs(normal_share(x) - exact));
  };
  EXPECT_LE(greatest(-10, 10, off), 4e-15);
  EXPECT_LE(greatest(-1, 1, off), 4e-16);
  EXPECT_EQ(normal_share(0), 0.5);
  EXPECT_EQ(normal_share(kInfinity), 1);
  EXPECT_EQ(normal_share(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(normal_share(std::nan(""))));
}

TEST(Elementary, DirectionsAreExactAsFarAsPositionsGo) {
  const auto off = [](double angle) {
    const Direction result = direction(angle);
    const long double sine = std::sin(static_cast<long double>(angle)),
                      cosine = std::cos(static_cast<long double>(angle));
    return static_cast<double>(std::max(std::fabs(result.sine - sine), std::fabs(result.cosine - cosine)));
  };
  EXPECT_LE(greatest(-10, 10, off), 2e-16);
  EXPECT_LE(greatest(0, 1e6, off), 2e-16);
  EXPECT_LE(greatest(0, 4294967296, off), 2e-16);
  // Integers close to multiples of π/2, from its continued fraction.
  for (const double angle :
       {11.0, 22.0, 344.0, 355.0, 710.0, 51819.0, 103993.0, 104348.0, 208341.0, 312689.0, 573204.0, 1146408.0,
        4272943.0, 5419351.0, 80143857.0, 245850922.0, 411557987.0, 4294967295.0}) {
    EXPECT_LE(off(angle), 2e-16) << angle;
    EXPECT_EQ(static_cast<float>(direction(angle).sine), static_cast<float>(std::sin(angle))) << angle;
    EXPECT_EQ(static_cast<float>(direction(angle).cosine), static_cast<float>(std::cos(angle))) << angle;
  }
  EXPECT_EQ(direction(0).sine, 0);
  EXPECT_EQ(direction(0).cosine, 1);
}

TEST(Elementary, PowersAreOffByNoMoreThanTheirExponent) {
  for (const double base : {0.0, 0.5, 0.9, 0.999, 1.0}) {
    for (uint64_t exponent = 0; exponent < 3000; ++exponent) {
      const long double exact = std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
      EXPECT_LE(units(power(base, exponent), exact), static_cast<double>(exponent))
          << base << "^" << exponent;
    }
  }
  EXPECT_EQ(power(1, UINT64_MAX), 1);
  EXPECT_EQ(power(0.999, UINT64_MAX), 0);
}

}  // namespace
}  // namespace id2vec

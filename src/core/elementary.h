// Elementary functions of doubles, in little code and without tables. Those of the C library bring 5 KB of tables, and
// more than that in code, for the last half bit and for angles beyond any position: 8.8 KB of a page's download, after
// Brotli. Results are rounded to float where they are used; how far off they are at most is said here and held by
// tests/cpp/elementary_test.cpp.
#pragma once

#include <cstdint>

namespace id2vec {

// eˣ: within 2 units in the last place of a double.
double exponential(double x);

// ln x, within 2 units; −∞ for 0, NaN below.
double logarithm(double x);

// tanh x, within 10 units.
double hyperbolic_tangent(double x);

// Φ(x), the share of a normal distribution below x: within 4e-15.
double normal_share(double x);

struct Direction {
  double sine, cosine;
};

// sin and cos of an angle of at most 2^32 (as large as a position gets), within 2e-16.
Direction direction(double angle);

// base^exponent by squaring, for a base from 0 to 1: within `exponent` units.
double power(double base, uint64_t exponent);

}  // namespace id2vec

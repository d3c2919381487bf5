#include "core/decimal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace id2vec {
namespace {

using Wide = unsigned __int128;

constexpr int kExactPower = 27;      // 5^27 is the largest power of five that fits in 64 bits
constexpr int kExactDouble = 22;     // 10^22 is the largest power of ten that a double holds exactly
constexpr int kMostDigits = 19;      // 10^19 − 1 fits in 64 bits
constexpr int64_t kPowerCap = 1000;  // with 19 digits, every double beyond this is 0 or infinite

uint64_t power_of_five(int exponent) {
  uint64_t power = 1;
  while (exponent-- > 0) power *= 5;
  return power;
}

// 10^exponent, exact for exponents up to 22.
double power_of_ten(int exponent) {
  double power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}

// digits · 10^exponent for |exponent| ≤ 27: 10^e = 5^e · 2^e, and digits · 5^e or digits / 5^-e are computed
// in integers, so that the conversion to double is the only rounding.
double scale_exact(uint64_t digits, int exponent) {
  if (exponent >= 0) return std::ldexp(static_cast<double>(Wide{digits} * power_of_five(exponent)), exponent);
  const int shift = __builtin_clzll(digits);
  const Wide numerator = Wide{digits << shift} << 64;
  const uint64_t divisor = power_of_five(-exponent);
  Wide quotient = numerator / divisor;
  if (quotient * divisor != numerator) quotient |= 1;  // the rest only breaks ties
  return std::ldexp(static_cast<double>(quotient), exponent - 64 - shift);
}

double scale(uint64_t digits, int64_t exponent) {
  if (digits == 0) return 0;
  if (exponent > kPowerCap) return std::numeric_limits<double>::infinity();
  if (exponent < -kPowerCap) return 0;
  const int64_t exact = exponent > kExactPower    ? kExactPower
                        : exponent < -kExactPower ? -kExactPower
                                                  : exponent;
  double value = scale_exact(digits, static_cast<int>(exact));
  for (int64_t rest = exponent - exact; rest != 0;) {
    const int step = static_cast<int>(std::min<int64_t>(std::abs(rest), kExactDouble));
    value = rest > 0 ? value * power_of_ten(step) : value / power_of_ten(step);
    rest += rest > 0 ? -step : step;
  }
  return value;
}

struct Digits {
  uint64_t value = 0;
  int64_t dropped = 0;  // digits after the 19th significant one
  int significant = 0;
  size_t count = 0;

  void take(std::string_view text, size_t& at) {
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++count) {
      if (significant == kMostDigits) {
        ++dropped;
        continue;
      }
      value = value * 10 + static_cast<uint64_t>(text[at] - '0');
      if (value != 0) ++significant;
    }
  }
};

}  // namespace

std::optional<double> parse_decimal(std::string_view text) {
  size_t at = 0;
  const auto skip = [&](char c) { return at < text.size() && text[at] == c ? (++at, true) : false; };
  const bool negative = skip('-');
  if (!negative) skip('+');
  Digits digits;
  digits.take(text, at);
  int64_t exponent = 0;
  if (skip('.')) {
    const size_t before = digits.count;
    digits.take(text, at);
    exponent = -static_cast<int64_t>(digits.count - before);
  }
  if (digits.count == 0) return std::nullopt;
  if (skip('e') || skip('E')) {
    const bool down = skip('-');
    if (!down) skip('+');
    int64_t power = 0;
    const size_t start = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      if (power < INT32_MAX) power = power * 10 + (text[at] - '0');
    }
    if (at == start) return std::nullopt;
    exponent += down ? -power : power;
  }
  if (at != text.size()) return std::nullopt;
  const double magnitude = scale(digits.value, exponent + digits.dropped);
  return negative ? -magnitude : magnitude;
}

}  // namespace id2vec

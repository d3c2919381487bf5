#include "tools/parse_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace id2vec {
namespace {

constexpr size_t kMostDigits = 1000;
constexpr int64_t kLargestExponent = 100'000;  // written ones beyond are as good as this one

// ± digits · 10^exponent
struct Decimal {
  bool negative = false;
  std::string_view text;  // where the digits stand, a point among them
  uint64_t digits = 0;    // the first 19 significant ones
  int kept = 0;           // how many those are
  int dropped = 0;        // significant digits behind them
  int64_t exponent = 0;   // of `digits`, had none been dropped: of all digits as one integer
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool parse_exponent(std::string_view text, int64_t& exponent) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty()) return false;
  int64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    value = std::min(value * 10 + (c - '0'), kLargestExponent);
  }
  exponent += negative ? -value : value;
  return true;
}

std::optional<Decimal> parse_decimal_parts(std::string_view text) {
  Decimal decimal;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    decimal.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  size_t at = 0, digits = 0;
  bool point = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !point)); ++at) {
    if (text[at] == '.') {
      point = true;
      continue;
    }
    ++digits;
    decimal.exponent -= point;
    if (decimal.kept == 0 && text[at] == '0') continue;
    if (decimal.kept < 19) {
      decimal.digits = decimal.digits * 10 + static_cast<uint64_t>(text[at] - '0');
      ++decimal.kept;
    } else {
      ++decimal.dropped;
    }
  }
  if (digits == 0 || digits > kMostDigits) return std::nullopt;
  decimal.text = text.substr(0, at);
  if (at == text.size()) return decimal;
  if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
  if (!parse_exponent(text.substr(at + 1), decimal.exponent)) return std::nullopt;
  return decimal;
}

// An integer ≥ 0 of any size, low word first.
class BigInteger {
 public:
  explicit BigInteger(uint64_t value)
      : words_{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)} {}

  void multiply_add(uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (uint32_t& word : words_) {
      carry += uint64_t{word} * factor;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_.push_back(static_cast<uint32_t>(carry));
  }
  void multiply_power(uint32_t base, int64_t exponent) {
    for (; exponent > 0; --exponent) multiply_add(base, 0);
  }
  // −1, 0 or 1 as this is smaller than, equal to or larger than the other.
  int compare(const BigInteger& other) const {
    for (size_t i = std::max(words_.size(), other.words_.size()); i-- > 0;) {
      const uint32_t mine = i < words_.size() ? words_[i] : 0,
                     theirs = i < other.words_.size() ? other.words_[i] : 0;
      if (mine != theirs) return mine < theirs ? -1 : 1;
    }
    return 0;
  }

 private:
  std::vector<uint32_t> words_;
};

// Compares the decimal's magnitude with a finite double > 0, exactly: both are multiplied until they are integers.
int compare(const Decimal& decimal, double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const int biased = static_cast<int>(bits >> 52);
  const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) | (biased == 0 ? 0 : uint64_t{1} << 52);
  const int64_t exponent2 = std::max(biased, 1) - 1075;
  BigInteger left(0), right(mantissa);
  for (const char c : decimal.text) {
    if (c != '.') left.multiply_add(10, static_cast<uint32_t>(c - '0'));
  }
  left.multiply_power(10, decimal.exponent);
  left.multiply_power(2, -exponent2);
  right.multiply_power(10, -decimal.exponent);
  right.multiply_power(2, exponent2);
  return left.compare(right);
}

// The next float above and below in magnitude; positive floats are ordered like their bits.
float above(float value) { return std::bit_cast<float>(std::bit_cast<uint32_t>(value) + 1); }
float below(float value) { return std::bit_cast<float>(std::bit_cast<uint32_t>(value) - 1); }

// Halfway between two neighbours, exact in double. Above the largest float lies what would be 2^128.
double middle(float low) {
  const double high = low == std::numeric_limits<float>::max() ? 0x1p128 : static_cast<double>(above(low));
  return (static_cast<double>(low) + high) / 2;
}

bool is_odd(float value) { return std::bit_cast<uint32_t>(value) & 1; }

// Moves from a float that is nearly right to the right one.
float correct(const Decimal& decimal, float guess) {
  while (std::isfinite(guess)) {
    const int side = compare(decimal, middle(guess));
    if (side < 0 || (side == 0 && !is_odd(guess))) break;
    guess = above(guess);
  }
  while (guess > 0) {
    const float lower = below(guess);
    const int side = compare(decimal, middle(lower));
    if (side > 0 || (side == 0 && is_odd(lower))) break;
    guess = lower;
  }
  return guess;
}

// 10^exponent for 0 ≤ exponent ≤ 22, where a double holds it exactly.
constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int64_t kExactPower = 22;

// digits · 10^exponent within a few units of the last place of a double, 0 or infinity where it leaves them.
double approximate(const Decimal& decimal) {
  double value = static_cast<double>(decimal.digits);
  int64_t exponent = std::clamp<int64_t>(decimal.exponent + decimal.dropped, -400, 400);
  for (; exponent > 0; exponent -= std::min(exponent, kExactPower))
    value *= kPowers[std::min(exponent, kExactPower)];
  for (; exponent < 0; exponent += std::min(-exponent, kExactPower))
    value /= kPowers[std::min(-exponent, kExactPower)];
  return value;
}

}  // namespace

std::optional<float> parse_float(std::string_view text) {
  const std::optional<Decimal> decimal = parse_decimal_parts(text);
  if (!decimal) return std::nullopt;
  const float sign = decimal->negative ? -1.0f : 1.0f;
  if (decimal->digits == 0) return sign * 0.0f;
  // Beyond these nothing is near a float: 10^39 is infinite, 10^-46 is less than half of the smallest.
  const int64_t magnitude = decimal->exponent + decimal->dropped + decimal->kept;
  if (magnitude > 40) return sign * std::numeric_limits<float>::infinity();
  if (magnitude < -46) return sign * 0.0f;
  const double value = approximate(*decimal);
  // A double's last 29 bits are cut off. The cut is safe unless they lie about the middle, or the float is a
  // subnormal or infinite, where more or all bits are cut.
  constexpr int64_t kMiddle = int64_t{1} << 28, kDoubt = 64;
  const int64_t cut = static_cast<int64_t>(std::bit_cast<uint64_t>(value) & ((uint64_t{1} << 29) - 1));
  const bool safe = std::abs(cut - kMiddle) > kDoubt && value > 0x1p-125 && value < 0x1p127;
  const float guess = static_cast<float>(value);
  return sign * (safe ? guess : correct(*decimal, guess));
}

}  // namespace id2vec

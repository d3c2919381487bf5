// The grids of the IQ1, IQ2 and IQ3 formats: published lists of 8-tuples (IQ1, IQ2) or 4-tuples (IQ3) of
// levels.
//
// A tuple is a number whose digits, lowest first, choose the levels: base 3 for IQ1 and IQ2, base 8 for IQ3.
// Every list is in increasing order of that number, so the set of numbers determines it, and the set fits
// into one bit per possible number: 3 KB for all six instead of 33 KB of tuples.
//
//   grid      rows   tuple    levels
//   IQ1_S     2048   8 of 3   −1 0 1 (also IQ1_M)
//   IQ2_XXS    256   8 of 3   8 25 43
//   IQ2_XS     512   8 of 3   8 25 43
//   IQ2_S     1024   8 of 3   8 25 43
//   IQ3_XXS    256   4 of 8   4 12 20 28 36 44 52 62
//   IQ3_S      512   4 of 8   1 3 5 … 15
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace id2vec {

// The digits of row `index`, 2 bits each (IQ1, IQ2) or 3 bits each (IQ3), lowest first. index < rows.
uint32_t iq1_s_row(uint32_t index);
uint32_t iq2_xxs_row(uint32_t index);
uint32_t iq2_xs_row(uint32_t index);
uint32_t iq2_s_row(uint32_t index);
uint32_t iq3_xxs_row(uint32_t index);
uint32_t iq3_s_row(uint32_t index);

constexpr int32_t iq1_level(uint32_t row, size_t i) { return int32_t(row >> (i * 2) & 3) - 1; }

constexpr int32_t iq2_level(uint32_t row, size_t i) {
  constexpr int8_t kLevels[4] = {8, 25, 43, 0};  // a base-3 digit is never 3
  return kLevels[row >> (i * 2) & 3];
}

constexpr int32_t iq3_xxs_level(uint32_t row, size_t i) {
  constexpr int8_t kLevels[8] = {4, 12, 20, 28, 36, 44, 52, 62};
  return kLevels[row >> (i * 3) & 7];
}

constexpr int32_t iq3_s_level(uint32_t row, size_t i) { return int32_t(row >> (i * 3) & 7) * 2 + 1; }

// Seven stored signs, and the eighth that makes the number of minus signs even.
constexpr uint32_t even_signs(uint32_t seven) { return seven | uint32_t(std::popcount(seven) & 1) << 7; }

constexpr int32_t with_sign(int32_t level, uint32_t signs, size_t i) {
  return (signs >> i & 1) != 0 ? -level : level;
}

}  // namespace id2vec

// Little-endian loads from bytes of any alignment, and arithmetic that reports a wrap instead of wrapping.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace id2vec {

using Bytes = std::span<const uint8_t>;
using MutableBytes = std::span<uint8_t>;

static_assert(std::endian::native == std::endian::little, "wasm and every supported host are little-endian");

template <class T>
T load_le(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store_le(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// nullopt where the exact result does not fit in 64 bits.
inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

}  // namespace id2vec

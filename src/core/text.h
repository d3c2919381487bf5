// Sentences for error messages, without printf or streams: concat("row ", 7, " of ", name).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.h"

namespace id2vec {

// How join gets the parts: a letter each, and the values as C hands over a variable list, which is the least code at the
// few hundred places that make a sentence. Only concat and fail call it, and they derive letters and values from types.
//   s  const char*, terminated     t  const std::string*     v  const std::string_view*     i  int64_t     u  uint64_t
std::string join(const char* kinds, ...);
Status fail_with(Code code, const char* kinds, ...);

template <class T>
constexpr char part_kind() {
  if constexpr (std::signed_integral<T>) return 'i';
  if constexpr (std::unsigned_integral<T>) return 'u';
  if constexpr (std::same_as<T, std::string>) return 't';
  if constexpr (std::same_as<T, std::string_view>) return 'v';
  return 's';
}

template <class T>
auto part_value(const T& part) {
  if constexpr (std::signed_integral<T>) {
    return static_cast<int64_t>(part);
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<uint64_t>(part);
  } else if constexpr (part_kind<T>() == 's') {
    return static_cast<const char*>(part);
  } else {
    return &part;
  }
}

template <class... Parts>
inline constexpr char kPartKinds[] = {part_kind<Parts>()..., 0};

template <class... Parts>
[[gnu::always_inline]] inline std::string concat(const Parts&... parts) {
  return join(kPartKinds<Parts...>, part_value(parts)...);
}

// A Status whose sentence is the concatenation of `parts`.
template <class... Parts>
[[gnu::always_inline]] inline Status fail(Code code, const Parts&... parts) {
  return fail_with(code, kPartKinds<Parts...>, part_value(parts)...);
}

// A name out of a file, fit for a sentence: in single quotes, with '?' for what is not printable or no UTF-8,
// at most about 80 bytes (cut between UTF-8 sequences).
std::string quoted(std::string_view name);

// Bytes of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none.
size_t utf8_sequence(std::string_view text);
// True if every byte belongs to a well-formed UTF-8 sequence (no overlong forms, no surrogates, ≤ U+10FFFF).
bool valid_utf8(std::string_view text);
// Appends a code point (≤ U+10FFFF, no surrogate).
void append_utf8(std::string& out, uint32_t code_point);

}  // namespace id2vec

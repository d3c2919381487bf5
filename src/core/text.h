// Sentences for error messages, without printf or streams: concat("row ", 7, " of ", name).
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.h"

namespace id2vec {

inline void append_text(std::string& to, std::string_view text) { to += text; }

inline void append_text(std::string& to, std::integral auto number) {
  char digits[20];
  size_t at = sizeof digits;
  bool negative = false;
  if constexpr (std::signed_integral<decltype(number)>) negative = number < 0;
  uint64_t rest = negative ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  do digits[--at] = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (negative) to += '-';
  to.append(digits + at, sizeof digits - at);
}

template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (append_text(text, parts), ...);
  return text;
}

// A Status whose sentence is the concatenation of `parts`.
template <class... Parts>
Status fail(Code code, const Parts&... parts) {
  return Status(code, concat(parts...));
}

// A name out of a file, fit for a sentence: in single quotes, control characters as '?', at most 80 bytes (cut
// between UTF-8 sequences).
inline std::string quoted(std::string_view name) {
  constexpr size_t kLongest = 80;
  const bool cut = name.size() > kLongest;
  if (cut) {
    size_t end = kLongest;
    while (end > 0 && (static_cast<uint8_t>(name[end]) & 0xC0) == 0x80) --end;
    name = name.substr(0, end);
  }
  std::string text = "'";
  for (const char c : name) text += static_cast<uint8_t>(c) < 0x20 || c == 0x7F ? '?' : c;
  return text + (cut ? "…'" : "'");
}

}  // namespace id2vec

// Sentences for error messages, without printf or streams: concat("row ", 7, " of ", name).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/status.h"

namespace id2vec {

// One part of a sentence: text or a number. Refers to its text, so it is used up within the call it is made
// for.
class Piece {
 public:
  Piece(std::string_view text) : text_(text) {}
  Piece(const std::string& text) : text_(text) {}
  Piece(const char* text) : text_(text) {}
  template <std::integral T>
  Piece(T value)
      : magnitude_(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value)),
        kind_(value < 0 ? Kind::kNegative : Kind::kNumber) {}

  void append_to(std::string& out) const;

 private:
  enum class Kind : uint8_t { kText, kNumber, kNegative };
  std::string_view text_;
  uint64_t magnitude_ = 0;
  Kind kind_ = Kind::kText;
};

std::string join(std::initializer_list<Piece> pieces);
Status fail_with(Code code, std::initializer_list<Piece> pieces);

template <class... Parts>
std::string concat(const Parts&... parts) {
  return join({Piece(parts)...});
}

// A Status whose sentence is the concatenation of `parts`.
template <class... Parts>
Status fail(Code code, const Parts&... parts) {
  return fail_with(code, {Piece(parts)...});
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

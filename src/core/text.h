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

// One part of a sentence: text or a number. Refers to its text, so it is used up within the call it is made for.
// Two words, because every error sentence builds an array of these.
class Piece {
 public:
  Piece(const char* literal) : text_(literal), length_(kTerminated) {}
  Piece(std::string_view text) : text_(text.data()), length_(static_cast<uint32_t>(text.size())) {}
  Piece(const std::string& text) : Piece(std::string_view(text)) {}
  template <std::integral T>
  Piece(T value)
      : number_(static_cast<uint64_t>(value)), length_(std::signed_integral<T> ? kSigned : kUnsigned) {}

  void append_to(std::string& out) const;

 private:
  // Lengths that are none.
  static constexpr uint32_t kTerminated = UINT32_MAX, kSigned = UINT32_MAX - 1, kUnsigned = UINT32_MAX - 2;
  union {
    const char* text_;
    uint64_t number_;
  };
  uint32_t length_;
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

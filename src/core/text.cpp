#include "core/text.h"

#include <cstdarg>

namespace id2vec {
namespace {

constexpr size_t kLongestQuotedName = 80;

void append_number(std::string& out, uint64_t value) {
  char digits[20];
  size_t start = sizeof digits;
  do {
    digits[--start] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  out.append(digits + start, sizeof digits - start);
}

void append_signed(std::string& out, int64_t value) {
  if (value < 0) out += '-';
  append_number(out, value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
}

std::string join_list(const char* kinds, va_list parts) {
  std::string out;
  for (; *kinds != 0; ++kinds) {
    switch (*kinds) {
      case 's': out += va_arg(parts, const char*); break;
      case 't': out += *va_arg(parts, const std::string*); break;
      case 'v': out += *va_arg(parts, const std::string_view*); break;
      case 'i': append_signed(out, va_arg(parts, int64_t)); break;
      default: append_number(out, va_arg(parts, uint64_t));
    }
  }
  return out;
}

}  // namespace

std::string join(const char* kinds, ...) {
  va_list parts;
  va_start(parts, kinds);
  std::string out = join_list(kinds, parts);
  va_end(parts);
  return out;
}

Status fail_with(Code code, const char* kinds, ...) {
  va_list parts;
  va_start(parts, kinds);
  Status status(code, join_list(kinds, parts));
  va_end(parts);
  return status;
}

std::string quoted(std::string_view name) {
  std::string out = "'";
  size_t at = 0;
  while (at < name.size() && at < kLongestQuotedName) {
    const size_t length = utf8_sequence(name.substr(at));
    const bool printable = length > 1 || (length == 1 && name[at] >= ' ' && name[at] != 0x7f);
    if (printable) {
      out.append(name, at, length);
    } else {
      out += '?';
    }
    at += length == 0 ? 1 : length;
  }
  out += at < name.size() ? "…'" : "'";
  return out;
}

// Table 3-7 of the Unicode standard, "Well-Formed UTF-8 Byte Sequences".
size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](size_t i) -> uint8_t { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  const auto in = [](uint8_t value, uint8_t low, uint8_t high) { return value >= low && value <= high; };
  const uint8_t lead = byte(0);
  if (text.empty()) return 0;
  if (lead < 0x80) return 1;
  if (in(lead, 0xc2, 0xdf)) return in(byte(1), 0x80, 0xbf) ? 2 : 0;
  if (in(lead, 0xe0, 0xef)) {
    const uint8_t low = lead == 0xe0 ? 0xa0 : 0x80, high = lead == 0xed ? 0x9f : 0xbf;
    return in(byte(1), low, high) && in(byte(2), 0x80, 0xbf) ? 3 : 0;
  }
  if (in(lead, 0xf0, 0xf4)) {
    const uint8_t low = lead == 0xf0 ? 0x90 : 0x80, high = lead == 0xf4 ? 0x8f : 0xbf;
    return in(byte(1), low, high) && in(byte(2), 0x80, 0xbf) && in(byte(3), 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void append_utf8(std::string& out, uint32_t code_point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code_point >> shift) & 0x3f)); };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xc0 | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xe0 | (code_point >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace id2vec

#include "containers/json.h"

#include <algorithm>
#include <limits>

#include "core/decimal.h"
#include "core/sort.h"
#include "core/text.h"

namespace id2vec {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// FNV-1a, 64 bits.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

// The exact value of a run of digits; false where it does not fit in 64 bits.
bool parse_u64(std::string_view digits, uint64_t& value) {
  value = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return false;
    if (__builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value)) return false;
  }
  return true;
}

}  // namespace

void JsonReader::fail_at(size_t offset, const char* problem, Code code) {
  if (!ok()) return;
  problem_ = problem;
  problem_at_ = offset;
  code_ = code;
}

Status JsonReader::status(std::string_view where) const {
  if (ok()) return {};
  if (!twin_.empty())
    return fail(code_, where, ": the JSON key ", twin_, " appears twice, again at byte ", problem_at_);
  return fail(code_, where, ": this is no valid JSON: ", problem_, " at byte ", problem_at_);
}

void JsonReader::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}

bool JsonReader::take(char expected) {
  if (at_ >= text_.size() || text_[at_] != expected) return false;
  ++at_;
  return true;
}

bool JsonReader::take_word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

JsonReader::Kind JsonReader::peek() {
  if (!ok()) return Kind::kNone;
  skip_space();
  if (at_ >= text_.size()) return Kind::kNone;
  switch (text_[at_]) {
    case 'n': return Kind::kNull;
    case 't':
    case 'f': return Kind::kBool;
    case '"': return Kind::kString;
    case '[': return Kind::kArray;
    case '{': return Kind::kObject;
    case '-': return Kind::kNumber;
    case 'N':
    case 'I': return dialect_ == Dialect::kPython ? Kind::kNumber : Kind::kNone;
    default: return is_digit(text_[at_]) ? Kind::kNumber : Kind::kNone;
  }
}

void JsonReader::read_null() {
  if (peek() != Kind::kNull || !take_word("null")) fail_at(at_, "null was expected");
}

bool JsonReader::read_bool() {
  if (peek() == Kind::kBool) {
    if (take_word("true")) return true;
    if (take_word("false")) return false;
  }
  fail_at(at_, "true or false was expected");
  return false;
}

bool JsonReader::digits() {
  const size_t start = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  return at_ > start;
}

JsonNumber JsonReader::read_python_number(bool negative) {
  JsonNumber number{.negative = negative};
  if (dialect_ == Dialect::kPython && take_word("Infinity")) {
    number.value = std::numeric_limits<double>::infinity();
  } else if (dialect_ == Dialect::kPython && !negative && take_word("NaN")) {
    number.value = std::numeric_limits<double>::quiet_NaN();
  } else {
    fail_at(at_, "a number was expected");
  }
  if (negative) number.value = -number.value;
  return number;
}

JsonNumber JsonReader::read_number() {
  if (peek() != Kind::kNumber) {
    fail_at(at_, "a number was expected");
    return {};
  }
  const size_t start = at_;
  const bool negative = take('-');
  if (at_ < text_.size() && !is_digit(text_[at_])) return read_python_number(negative);
  const size_t first_digit = at_;
  const bool leading_zero = take('0');
  const bool valid_integer = leading_zero ? at_ >= text_.size() || !is_digit(text_[at_]) : digits();
  const std::string_view integer = text_.substr(first_digit, at_ - first_digit);
  const bool fraction = take('.'), valid_fraction = !fraction || digits();
  const bool power = take('e') || take('E');
  const bool valid_power = !power || ((take('-') || take('+') || true) && digits());
  if (!valid_integer || !valid_fraction || !valid_power) {
    fail_at(start, "a number is not well formed");
    return {};
  }
  JsonNumber number{.negative = negative};
  number.value = parse_decimal(text_.substr(start, at_ - start)).value_or(0);
  number.is_integer = !fraction && !power && parse_u64(integer, number.magnitude);
  return number;
}

uint64_t JsonReader::read_u64() {
  skip_space();
  const size_t start = at_;
  const JsonNumber number = read_number();
  if (number.is_integer && !number.negative) return number.magnitude;
  fail_at(start, "an integer from 0 to 2^64 - 1 was expected");
  return 0;
}

uint32_t JsonReader::read_hex4() {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!letter && !is_digit(c)) {
      fail_at(at_, "\\u is not followed by four hexadecimal digits");
      return 0;
    }
    value = value << 4 | static_cast<uint32_t>(letter ? (c | 0x20) - 'a' + 10 : c - '0');
  }
  return value;
}

void JsonReader::append_escape(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  const size_t start = at_ - 1;
  const char name = at_ < text_.size() ? text_[at_++] : '\0';
  if (name != 'u') {
    const size_t which = kNames.find(name);
    if (which == std::string_view::npos) return fail_at(start, "an unknown escape");
    out += kValues[which];
    return;
  }
  uint32_t unit = read_hex4();
  if (unit >= 0xd800 && unit < 0xe000) {
    const bool paired = unit < 0xdc00 && take_word("\\u");
    const uint32_t low = paired ? read_hex4() : 0;
    if (low < 0xdc00 || low >= 0xe000) return fail_at(start, "half of a surrogate pair");
    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  }
  if (ok()) append_utf8(out, unit);
}

void JsonReader::append_string(std::string& out) {
  if (!ok()) return;
  skip_space();
  if (!take('"')) return fail_at(at_, "a string was expected");
  while (ok()) {
    if (at_ >= text_.size()) return fail_at(at_, "the text ends inside a string");
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return;
    }
    if (c == '\\') {
      ++at_;
      append_escape(out);
      continue;
    }
    if (static_cast<uint8_t>(c) < 0x20) return fail_at(at_, "a control character inside a string");
    const size_t length = utf8_sequence(text_.substr(at_));
    if (length == 0) return fail_at(at_, "bytes that are no UTF-8");
    out.append(text_, at_, length);
    at_ += length;
  }
}

std::string JsonReader::read_string() {
  std::string out;
  append_string(out);
  return ok() ? out : std::string();
}

void JsonReader::enter(char bracket, bool is_object) {
  if (!ok()) return;
  skip_space();
  if (!take(bracket)) return fail_at(at_, is_object ? "an object was expected" : "an array was expected");
  if (depth_ == limits::kJsonDepth) return fail_at(at_, "more than 64 levels of nesting", Code::kLimit);
  levels_[depth_++] = {.is_object = is_object, .is_first = true, .first_key = keys_.size()};
}

void JsonReader::enter_object() { enter('{', true); }

void JsonReader::enter_array() { enter('[', false); }

void JsonReader::leave() {
  const Level& level = levels_[--depth_];
  if (level.is_object) reject_twins(level.first_key);
  keys_.resize(level.first_key);
}

// Equal hashes are taken for equal keys: of honest keys two in 2^64 pairs collide.
void JsonReader::reject_twins(size_t first_key) {
  const auto begin = keys_.begin() + static_cast<ptrdiff_t>(first_key);
  heap_sort(keys_.data() + first_key, keys_.size() - first_key, [](const Key& a, const Key& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.offset < b.offset;
  });
  const auto twin =
      std::adjacent_find(begin, keys_.end(), [](const Key& a, const Key& b) { return a.hash == b.hash; });
  if (twin == keys_.end()) return;
  const size_t offset = (twin + 1)->offset;
  std::string key;
  const size_t resume = std::exchange(at_, offset);
  append_string(key);
  at_ = resume;
  twin_ = quoted(key);
  fail_at(offset, "a key appears twice");
}

bool JsonReader::next_member(char closing) {
  if (!ok()) return false;
  Level& level = levels_[depth_ - 1];
  skip_space();
  if (take(closing)) {
    leave();
    return false;
  }
  if (!level.is_first && !take(',')) {
    fail_at(at_, closing == '}' ? "',' or '}' was expected" : "',' or ']' was expected");
    return false;
  }
  level.is_first = false;
  return true;
}

bool JsonReader::next_key(std::string& key) {
  if (!next_member('}')) return false;
  skip_space();
  const size_t offset = at_;
  key.clear();
  append_string(key);
  skip_space();
  if (ok() && !take(':')) fail_at(at_, "':' was expected");
  if (!ok()) return false;
  keys_.push_back({hash_of(key), offset});
  return true;
}

bool JsonReader::next_element() { return next_member(']'); }

void JsonReader::skip_value() {
  const int base = depth_;
  do {
    switch (peek()) {
      case Kind::kNull: read_null(); break;
      case Kind::kBool: read_bool(); break;
      case Kind::kNumber: read_number(); break;
      case Kind::kString: scratch_.clear(), append_string(scratch_); break;
      case Kind::kArray: enter_array(); break;
      case Kind::kObject: enter_object(); break;
      case Kind::kNone:
        fail_at(at_, at_ < text_.size() ? "a value was expected" : "the text ends too early");
        break;
    }
    // On to the next value of what is open, leaving what is complete.
    while (ok() && depth_ > base && !(levels_[depth_ - 1].is_object ? next_key(scratch_) : next_element())) {
    }
  } while (ok() && depth_ > base);
}

void JsonReader::finish() {
  if (!ok()) return;
  skip_space();
  if (at_ < text_.size()) fail_at(at_, "something follows the end of the value");
}

}  // namespace id2vec

#include "tools/word_vectors.h"

#include <algorithm>
#include <cstring>

#include "core/text.h"
#include "tools/parse_float.h"

namespace id2vec {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// What a line of text never holds.
bool is_control(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte < 0x20 && c != '\t' && c != '\r' && c != '\n';
}
bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && (is_blank(line.back()) || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

// The last field of a line, which is taken off it along with the blanks before it.
std::string_view take_last_field(std::string_view& line) {
  size_t start = line.size();
  while (start > 0 && !is_blank(line[start - 1])) --start;
  const std::string_view field = line.substr(start);
  while (start > 0 && is_blank(line[start - 1])) --start;
  line = line.substr(0, start);
  return field;
}

bool parse_natural(std::string_view text, uint64_t& value) {
  value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > UINT32_MAX) return false;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return !text.empty();
}

// FNV-1a; source: RFC draft-eastlake-fnv.
uint64_t hash_of(std::string_view token) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : token) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  return hash ^ hash >> 32;
}

std::string as_utf8(std::string_view token) {
  std::string out;
  for (size_t at = 0; at < token.size();) {
    const size_t length = utf8_sequence(token.substr(at));
    if (length == 0) {
      append_utf8(out, 0xFFFD);
      ++at;
    } else {
      out.append(token, at, length);
      at += length;
    }
  }
  return out;
}

Status out_of_memory() { return fail(Code::kOutOfMemory, "no memory for more word vectors"); }

}  // namespace

bool WordVectors::matches(Bytes head) {
  std::string_view line(reinterpret_cast<const char*>(head.data()), head.size());
  line = line.substr(0, line.find('\n'));
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  line = trimmed(line);
  uint64_t number = 0;
  size_t numbers = 0;
  bool naturals = true;
  while (!line.empty()) {
    const std::string_view field = take_last_field(line);
    naturals = naturals && parse_natural(field, number);
    if (line.empty()) return numbers >= 2 || (numbers == 1 && naturals);
    if (!parse_float(field)) return false;
    ++numbers;
  }
  return false;
}

Status WordVectors::line_error(std::string_view what) const {
  return fail(Code::kMalformed, format_ == Format::kBinary ? "row " : "line ", line_, ": ", what);
}

Status WordVectors::feed(Bytes chunk) {
  const std::string_view fresh(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  // Whole rows are read where they lie; only what a chunk cuts apart is copied.
  std::string_view text = fresh;
  if (!pending_.empty()) {
    pending_ += fresh;
    text = pending_;
  }
  ID2VEC_RETURN_IF_ERROR(consume(text, false));
  if (text.size() > kLongestLine) {
    ++line_;
    return fail(Code::kLimit, "line ", line_, " is longer than ", kLongestLine,
                " bytes: these are no word vectors");
  }
  pending_ = std::string(text);
  return {};
}

Status WordVectors::finish() {
  const std::string rest = std::move(pending_);
  pending_.clear();
  std::string_view text = rest;
  ID2VEC_RETURN_IF_ERROR(consume(text, true));
  if (has_header_ && promised_ != seen_) {
    return fail(Code::kMalformed, "the header promises ", promised_, " rows, but there are ", seen_,
                seen_ < promised_ ? "; download the file again" : "");
  }
  if (size() == 0) return fail(Code::kMalformed, "there are no word vectors in this file");
  return {};
}

// Takes whole lines and rows off the front of `text`.
Status WordVectors::consume(std::string_view& text, bool last) {
  if (format_ == Format::kDetect) {
    bool known = false;
    ID2VEC_RETURN_IF_ERROR(detect(text, last, known));
    if (!known) return {};
  }
  while (!text.empty()) {
    if (format_ == Format::kBinary && !first_) {
      bool taken = false;
      ID2VEC_RETURN_IF_ERROR(take_binary_row(text, last, taken));
      if (!taken) return {};
      continue;
    }
    const size_t end = text.find('\n');
    if (end == text.npos && !last) return {};
    ++line_;
    ID2VEC_RETURN_IF_ERROR(take_line(text.substr(0, end)));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return {};
}

// Floats in binary have control characters among their bytes, text has not. Two rows' worth of bytes decide.
Status WordVectors::detect(std::string_view text, bool last, bool& known) {
  constexpr size_t kMagic = 4;
  if (text.size() < kMagic && !last) return {};
  if (text.size() >= kMagic && load_le<uint32_t>(text.data()) == 0x2F4F16BA) {
    return fail(Code::kUnsupported, "this is a fastText model (.bin); convert the .vec file beside it");
  }
  if (text.starts_with("\x1F\x8B"))
    return fail(Code::kUnsupported, "this is gzip-compressed; unpack it first");
  constexpr size_t kEnough = 4096;
  const bool binary = std::any_of(
      text.begin(), text.begin() + static_cast<ptrdiff_t>(std::min(text.size(), kEnough)), is_control);
  known = last || binary || text.size() >= kEnough;
  if (known) format_ = binary ? Format::kBinary : Format::kText;
  return {};
}

Status WordVectors::take_line(std::string_view line) {
  if (line.size() > kLongestLine)
    return fail(Code::kLimit, "line ", line_, " is longer than ", kLongestLine, " bytes");
  line = trimmed(line);
  if (first_) {
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    first_ = false;
    bool is_header = false;
    ID2VEC_RETURN_IF_ERROR(take_header(line, is_header));
    if (is_header) return {};
  }
  return line.empty() ? Status() : take_text_row(line);
}

// Two integers are a header. (A token that is a number, with a vector of one integer, is nobody's file.)
Status WordVectors::take_header(std::string_view line, bool& is_header) {
  std::string_view rest = line;
  const std::string_view second = take_last_field(rest), first = take_last_field(rest);
  uint64_t rows = 0, cols = 0;
  is_header = rest.empty() && parse_natural(first, rows) && parse_natural(second, cols);
  if (!is_header) {
    if (format_ != Format::kBinary) return {};
    return fail(Code::kMalformed,
                "this is no text, and no word2vec binary either: its first line is not \"V d\"");
  }
  if (cols == 0 || cols > kMostCols) {
    return fail(Code::kLimit, "the header says that vectors have ", cols, " numbers; 1 to ", kMostCols,
                " are read");
  }
  if (format_ == Format::kBinary) line_ = 0;  // from here on rows are counted
  has_header_ = true;
  promised_ = rows;
  cols_ = static_cast<uint32_t>(cols);
  return {};
}

Status WordVectors::take_text_row(std::string_view line) {
  if (cols_ == 0) {
    // The first row decides: all but its first field are numbers.
    size_t fields = 1;
    for (size_t i = 1; i < line.size(); ++i) fields += is_blank(line[i - 1]) && !is_blank(line[i]);
    if (fields < 2) return line_error("a token without numbers");
    if (fields - 1 > kMostCols)
      return fail(Code::kLimit, "line ", line_, ": more than ", kMostCols, " numbers");
    cols_ = static_cast<uint32_t>(fields - 1);
  }
  const size_t start = rows_.size();
  if (!rows_.resize(start + cols_)) return out_of_memory();
  std::string_view rest = line;
  for (uint32_t i = cols_; i-- > 0;) {
    const std::string_view field = take_last_field(rest);
    if (rest.empty()) return line_error(concat("fewer than ", cols_, " numbers behind a token"));
    const std::optional<float> value = parse_float(field);
    if (!value) return line_error(concat(quoted(field), " (number ", i + 1, " of ", cols_, ") is no number"));
    rows_[start + i] = *value;
  }
  // Where there is a header, tokens have no spaces.
  if (has_header_ && std::any_of(rest.begin(), rest.end(), is_blank)) {
    return line_error(concat("more than the ", cols_, " numbers that the header promises"));
  }
  bool fresh = false;
  ID2VEC_RETURN_IF_ERROR(begin_row(rest, fresh));
  if (!fresh && !rows_.resize(start)) return out_of_memory();
  return {};
}

Status WordVectors::take_binary_row(std::string_view& text, bool last, bool& taken) {
  std::string_view rest = text;
  while (!rest.empty() && rest.front() == '\n') rest.remove_prefix(1);  // the end of the row before
  const size_t space = rest.find(' ');
  const size_t bytes = size_t{cols_} * sizeof(float);
  taken = space != rest.npos && rest.size() - space - 1 >= bytes;
  if (!taken) {
    if (space == rest.npos && rest.size() > kLongestToken) {
      ++line_;
      return line_error(
          "a token of more than 4096 bytes: this is no word2vec binary, or one cut in the middle");
    }
    if (!last || rest.empty()) {
      text = rest;
      return {};
    }
    return fail(Code::kTruncated, "the file ends within row ", line_ + 1, "; download it again");
  }
  ++line_;
  if (seen_ == promised_) return line_error(concat("the header promises only ", promised_, " rows"));
  bool fresh = false;
  ID2VEC_RETURN_IF_ERROR(begin_row(rest.substr(0, space), fresh));
  const size_t start = rows_.size();
  if (fresh) {
    if (!rows_.resize(start + cols_)) return out_of_memory();
    std::memcpy(rows_.data() + start, rest.data() + space + 1, bytes);
  }
  text = rest.substr(space + 1 + bytes);
  return {};
}

// Counts a row and remembers its token; `fresh` is false where that token had a row before.
Status WordVectors::begin_row(std::string_view token, bool& fresh) {
  ++seen_;
  if (token.empty()) return line_error("a row without a token");
  if (token.size() > kLongestToken)
    return line_error(concat("a token of ", token.size(), " bytes, more than ", kLongestToken));
  std::string repaired;
  if (!valid_utf8(token)) token = repaired = as_utf8(token);
  ID2VEC_RETURN_IF_ERROR(grow_index());
  const uint64_t hash = hash_of(token);
  const size_t mask = index_.size() - 1;
  size_t slot = static_cast<size_t>(hash) & mask;
  for (; index_[slot] != 0; slot = (slot + 1) & mask) {
    if (this->token(index_[slot] - 1) != token) continue;
    ++skipped_;
    fresh = false;
    return {};
  }
  fresh = true;
  if (text_.size() + token.size() > UINT32_MAX) return fail(Code::kLimit, "the tokens take more than 4 GiB");
  text_ += token;
  if (!starts_.push_back(static_cast<uint32_t>(text_.size()))) return out_of_memory();
  index_[slot] = static_cast<uint32_t>(size());
  return {};
}

// Keeps the index at most half full.
Status WordVectors::grow_index() {
  if (starts_.size() == 0 && !starts_.push_back(0)) return out_of_memory();
  if ((size() + 1) * 2 <= index_.size()) return {};
  Array<uint32_t> larger;
  if (!larger.resize(std::max<size_t>(1024, index_.size() * 2))) return out_of_memory();
  const size_t mask = larger.size() - 1;
  for (uint64_t i = 0; i < size(); ++i) {
    size_t slot = static_cast<size_t>(hash_of(token(i))) & mask;
    while (larger[slot] != 0) slot = (slot + 1) & mask;
    larger[slot] = static_cast<uint32_t>(i + 1);
  }
  index_ = std::move(larger);
  return {};
}

}  // namespace id2vec

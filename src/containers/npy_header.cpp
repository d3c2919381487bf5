#include "containers/npy_header.h"

#include "containers/limits.h"
#include "core/text.h"

namespace id2vec {
namespace {

class Parser {
 public:
  Parser(std::string_view where, std::string_view text) : where_(where), text_(text) {}

  Result<NpyHeader> run() {
    if (!skip('{')) return broken("does not start with '{'");
    while (!skip('}')) {
      ID2VEC_RETURN_IF_ERROR(entry());
      if (skip(',')) continue;
      if (!skip('}')) return broken("lacks a comma or the closing '}'");
      break;
    }
    space();
    if (at_ != text_.size()) return broken("goes on after its '}'");
    if (seen_ != (kDescr | kOrder | kShape))
      return broken("lacks one of 'descr', 'fortran_order' and 'shape'");
    return std::move(header_);
  }

 private:
  enum Key : unsigned { kDescr = 1, kOrder = 2, kShape = 4 };

  Status broken(std::string_view what) const {
    return fail(Code::kMalformed, where_, ": its npy header ", what, " (at character ", at_, ")");
  }

  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool skip(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool skip_word(std::string_view word) {
    space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // A string without escapes: neither keys nor dtypes need one.
  Result<std::string_view> string() {
    const char quote = skip('\'') ? '\'' : skip('"') ? '"' : '\0';
    if (quote == '\0') return broken("lacks a string");
    const size_t end = text_.find(quote, at_);
    const std::string_view value = text_.substr(at_, end - at_);
    if (end == text_.npos || value.find('\\') != value.npos)
      return broken("has a string without an end or with an escape");
    at_ = end + 1;
    return value;
  }

  Status entry() {
    ID2VEC_ASSIGN(const std::string_view key, string());
    if (!skip(':')) return broken("lacks a ':'");
    if (key == "descr") return once(kDescr, descr());
    if (key == "fortran_order") return once(kOrder, order());
    if (key == "shape") return once(kShape, shape());
    return broken(concat("has the unknown key ", quoted(key)));
  }
  Status once(Key key, Status value) {
    if (seen_ & key) return broken("has a key twice");
    seen_ |= key;
    return value;
  }

  Status descr() {
    if (skip('['))
      return fail(Code::kUnsupported, where_,
                  ": structured dtypes are not read; save each field as an array of its own");
    ID2VEC_ASSIGN(header_.descr, string());
    return {};
  }
  Status order() {
    header_.fortran_order = skip_word("True");
    return header_.fortran_order || skip_word("False") ? Status()
                                                       : broken("has a fortran_order that is no bool");
  }
  Status shape() {
    if (!skip('(')) return broken("has a shape that is no tuple");
    while (!skip(')')) {
      ID2VEC_RETURN_IF_ERROR(dimension());
      if (skip(',')) continue;
      if (header_.shape.size() == 1 || !skip(')')) return broken("has a shape that is no tuple");
      break;
    }
    return {};
  }
  Status dimension() {
    space();
    const size_t start = at_;
    uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (at_ - start >= 18) return broken("has a dimension of more than 18 digits");
      value = value * 10 + static_cast<uint64_t>(text_[at_] - '0');
    }
    if (at_ == start) return broken("has a dimension that is no number");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
    if (header_.shape.size() >= limits::kDimensions) {
      return fail(Code::kLimit, where_, ": more than ", limits::kDimensions, " dimensions");
    }
    header_.shape.push_back(value);
    return {};
  }

  std::string_view where_, text_;
  size_t at_ = 0;
  unsigned seen_ = 0;
  NpyHeader header_;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view where, std::string_view text) {
  return Parser(where, text).run();
}

}  // namespace id2vec

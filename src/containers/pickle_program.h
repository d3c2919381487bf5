// A pickle as bytes: its instructions, and the operands that follow them.
#pragma once

#include <string_view>

#include "core/bytes.h"
#include "core/status.h"
#include "core/text.h"

namespace id2vec {

namespace pickle_opcode {

// Instructions, by the names that Python's pickletools gives them. Source: Lib/pickletools.py, "opcodes".
enum : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kNone = 'N',
  kInt = 'I',
  kLong = 'L',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kBinFloat = 'G',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kList = 'l',
  kEmptyTuple = ')',
  kTuple = 't',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kDict = 'd',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kGlobal = 'c',
  kReduce = 'R',
  kBuild = 'b',
  kBinPersId = 'Q',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8A,
  kLong4 = 0x8B,
  kShortBinUnicode = 0x8C,
  kBinUnicode8 = 0x8D,
  kBinBytes8 = 0x8E,
  kEmptySet = 0x8F,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
};

}  // namespace pickle_opcode

class PickleProgram {
 public:
  // `where` names the pickle in errors.
  PickleProgram(std::string_view where, Bytes bytes) : where_(where), bytes_(bytes) {}

  size_t size() const { return bytes_.size(); }
  size_t position() const { return at_; }

  Status broken(auto... parts) const {
    return fail(Code::kMalformed, where_, ": broken pickle at byte ", at_, ", ", parts...);
  }

  template <class T>
  Result<T> number() {
    ID2VEC_ASSIGN(const std::string_view raw, take(sizeof(T)));
    return load_le<T>(raw.data());
  }

  // Bytes after their number.
  template <class Length>
  Result<std::string_view> counted() {
    ID2VEC_ASSIGN(const Length length, number<Length>());
    return take(length);
  }

  // Up to a line feed, which is taken too.
  Result<std::string_view> line() {
    const size_t start = at_;
    while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
    const size_t length = at_ - start;
    at_ = start;
    ID2VEC_ASSIGN(const std::string_view taken, take(length + 1));
    return taken.substr(0, length);
  }

  Status skip(uint64_t length) {
    const Result<std::string_view> skipped = take(length);
    return skipped.ok() ? Status() : skipped.status();
  }

 private:
  Result<std::string_view> take(uint64_t length) {
    if (length > bytes_.size() - at_) {
      return fail(Code::kTruncated, where_, ": the pickle wants ", length, " bytes at byte ", at_,
                  ", but only ", bytes_.size() - at_, " are there");
    }
    const std::string_view taken(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
    at_ += length;
    return taken;
  }

  std::string_view where_;
  Bytes bytes_;
  size_t at_ = 0;
};

}  // namespace id2vec

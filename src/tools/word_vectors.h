// Word vectors as people have them, fed in chunks of any size:
//
//   GloVe, .txt           token v1 … vd                       a line per row; no header
//   word2vec text, .vec   "V d", then the same                fastText's .vec is this
//   word2vec binary       "V d\n", then per row: token, a space, d little-endian floats, perhaps "\n"
//
//   WordVectors words;
//   for (chunk : file) { words.feed(chunk); … take words.rows() …; words.drop_rows(); }
//   words.finish();
//
// Numbers of a line are counted from its end, because tokens of some GloVe files contain spaces. A token that came
// before is skipped with its row (the first one counts). Bytes that are no UTF-8 become U+FFFD.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/array.h"
#include "core/bytes.h"
#include "core/status.h"

namespace id2vec {

class WordVectors {
 public:
  enum class Format : uint8_t { kDetect, kText, kBinary };
  static constexpr size_t kLongestLine = size_t{1} << 20;  // bytes; 300 numbers of 20 characters are 6,000
  static constexpr size_t kLongestToken = 4096;            // bytes
  static constexpr uint32_t kMostCols = 1 << 16;           // d

  // True if the first bytes of a file (64 KiB, or the whole file) look like word vectors: a header "V d", or a line
  // of one token and at least two numbers.
  static bool matches(Bytes head);

  explicit WordVectors(Format format = Format::kDetect) : format_(format) {}

  // kMalformed names the line (or row) and the field that is wrong; kTruncated, kLimit, kUnsupported, kOutOfMemory.
  // After an error nothing more may be fed.
  Status feed(Bytes chunk);
  // The end of the input. kMalformed where the header promised another number of rows, kTruncated within a row.
  Status finish();

  Format format() const { return format_; }
  uint32_t dim() const { return cols_; }  // d; 0 before the first row
  uint64_t size() const {
    return starts_.size() == 0 ? 0 : starts_.size() - 1;
  }  // rows so far, without skipped ones
  uint64_t skipped() const { return skipped_; }  // rows of tokens that came before
  // Token of row i.
  std::string_view token(uint64_t i) const {
    return std::string_view(text_).substr(starts_[i], starts_[i + 1] - starts_[i]);
  }
  // Every token in one blob, and where each begins: size() + 1 entries, or none.
  const std::string& text() const { return text_; }
  std::span<const uint32_t> starts() const { return starts_.span(); }

  // The rows that were completed since the last drop_rows(), row-major.
  std::span<const float> rows() const { return rows_.span(); }
  void drop_rows() { rows_.clear(); }

 private:
  Status consume(std::string_view& text, bool last);
  Status detect(std::string_view text, bool last, bool& known);
  Status take_line(std::string_view line);
  Status take_header(std::string_view line, bool& is_header);
  Status take_text_row(std::string_view line);
  Status take_binary_row(std::string_view& text, bool last, bool& taken);
  Status begin_row(std::string_view token, bool& fresh);
  Status grow_index();
  Status line_error(std::string_view what) const;

  Format format_;
  std::string pending_;    // what a chunk left over
  uint64_t line_ = 0;      // lines (or binary rows) so far
  bool first_ = true;      // the first line is still to come
  bool has_header_ = false;
  uint64_t promised_ = 0;  // V of the header
  uint64_t seen_ = 0;      // rows, skipped ones too
  uint64_t skipped_ = 0;
  uint32_t cols_ = 0;
  std::string text_;
  Array<uint32_t> starts_;
  Array<uint32_t> index_;  // open addressing: row + 1, or 0; a power of two long
  Array<float> rows_;
};

}  // namespace id2vec

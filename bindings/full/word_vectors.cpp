#include "tools/word_vectors.h"

#include <emscripten/bind.h>

#include <string>

#include "border.h"
#include "tools/word_vectors_file.h"

namespace id2vec {
namespace {

// WordVectors, and the layout of the file that they become.
class WordVectorReader {
 public:
  int feed(uintptr_t address, size_t count) {
    return report(words_.feed(span_at<const uint8_t>(address, count)));
  }
  int finish() { return report(words_.finish()); }
  double size() const { return static_cast<double>(words_.size()); }
  double skipped() const { return static_cast<double>(words_.skipped()); }
  unsigned dim() const { return words_.dim(); }

  uintptr_t rows() const { return reinterpret_cast<uintptr_t>(words_.rows().data()); }
  size_t rows_bytes() const { return words_.rows().size_bytes(); }
  void drop_rows() { words_.drop_rows(); }

  int lay_out(const std::string& name) {
    Result<FileLayout> layout = word_vectors_layout(words_, name);
    if (layout.ok()) layout_ = std::move(layout.value());
    return report(layout.status());
  }
  uintptr_t header() const { return reinterpret_cast<uintptr_t>(layout_.header.data()); }
  size_t header_bytes() const { return layout_.header.size(); }
  double rows_offset() const { return static_cast<double>(layout_.offsets[0]); }
  double file_bytes() const { return static_cast<double>(layout_.bytes); }

 private:
  WordVectors words_;
  FileLayout layout_;
};

bool is_word_vectors(uintptr_t address, size_t count) {
  return WordVectors::matches(span_at<const uint8_t>(address, count));
}

}  // namespace

EMSCRIPTEN_BINDINGS(word_vectors) {
  using emscripten::class_;
  class_<WordVectorReader>("WordVectorReader")
      .constructor<>()
      .function("feed", &WordVectorReader::feed)
      .function("finish", &WordVectorReader::finish)
      .function("size", &WordVectorReader::size)
      .function("skipped", &WordVectorReader::skipped)
      .function("dim", &WordVectorReader::dim)
      .function("rows", &WordVectorReader::rows)
      .function("rowsBytes", &WordVectorReader::rows_bytes)
      .function("dropRows", &WordVectorReader::drop_rows)
      .function("layOut", &WordVectorReader::lay_out)
      .function("header", &WordVectorReader::header)
      .function("headerBytes", &WordVectorReader::header_bytes)
      .function("rowsOffset", &WordVectorReader::rows_offset)
      .function("fileBytes", &WordVectorReader::file_bytes);
  emscripten::function("isWordVectors", &is_word_vectors);
}

}  // namespace id2vec

#include "tools/word_vectors.h"

#include <memory>
#include <string>

#include "answer.h"
#include "border.h"
#include "tools/word_vectors_file.h"

namespace id2vec {
namespace {

// WordVectors, and the layout of the file that they become.
class WordVectorReader {
 public:
  Status feed(uintptr_t address, size_t count) { return words_.feed(span_at<const uint8_t>(address, count)); }
  Status finish() { return words_.finish(); }
  uintptr_t rows() const { return address_of(words_.rows().data()); }
  size_t rows_bytes() const { return words_.rows().size_bytes(); }
  void drop_rows() { words_.drop_rows(); }

  Status lay_out(const std::string& name) {
    ID2VEC_ASSIGN(layout_, word_vectors_layout(words_, name));
    return {};
  }
  // After lay_out(). The header is { address, headerBytes }.
  Answer layout() const {
    return Answer::object("rows", words_.size(), "dim", words_.dim(), "skipped", words_.skipped(), "address",
                          address_of(layout_.header.data()), "headerBytes", layout_.header.size(),
                          "rowsOffset", layout_.offsets[0], "bytes", layout_.bytes);
  }

 private:
  WordVectors words_;
  FileLayout layout_;
};

bool is_word_vectors(uintptr_t address, size_t count) {
  return WordVectors::matches(span_at<const uint8_t>(address, count));
}

std::unique_ptr<WordVectorReader> make_reader() { return std::make_unique<WordVectorReader>(); }

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec_word_vectors) {
  bind<&is_word_vectors>("isWordVectors");
  bind<&make_reader>("makeWordVectorReader");
  bind<&destroy<WordVectorReader>>("deleteWordVectorReader");
  bind<&WordVectorReader::feed>("feedWords");
  bind<&WordVectorReader::finish>("finishWords");
  bind<&WordVectorReader::rows>("wordRows");
  bind<&WordVectorReader::rows_bytes>("wordRowsBytes");
  bind<&WordVectorReader::drop_rows>("dropWordRows");
  bind<&WordVectorReader::lay_out>("layOutWords");
  bind<&WordVectorReader::layout>("wordLayout");
}

}  // namespace id2vec

// Model files out of tables, as JavaScript drives it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "answer.h"
#include "border.h"
#include "containers/directory.h"
#include "containers/origin.h"
#include "table/table.h"
#include "tools/export.h"
#include "tools/resize.h"

namespace id2vec {

// A file that holds some tables, with the metadata and the vocabulary of the file that they come from, if any.
class Writer {
 public:
  Writer() = default;
  explicit Writer(const Directory& source) {
    source_.metadata = source.metadata;
    source_.vocabulary = source.vocabulary;
  }

  // Metadata and vocabulary as an Origin of another core packed them.
  Status set_origin(uintptr_t bytes, size_t count) {
    return unpack_origin({at<const char>(bytes), count}, source_);
  }

  void set_text(const std::string& key, const std::string& value) { source_.metadata[key] = value; }
  void set_number(const std::string& key, double value);

  // Pieces as in Vocabulary; `scores` and `types` may be 0.
  void set_vocabulary(uintptr_t text, size_t bytes, uintptr_t offsets, size_t count, uintptr_t scores,
                      uintptr_t types);

  // Pieces for so many rows: see tools/resize.h.
  void resize_vocabulary(size_t size) { id2vec::resize_vocabulary(source_, size); }
  size_t vocabulary_size() const { return source_.vocabulary.size(); }

  // The table must outlive the last call of pieces().
  void add(const std::string& name, const Table& table, bool is_vector) {
    tables_.push_back({name, &table, is_vector});
  }

  // `count` integers of a dtype that is no format of a table, written as they are; the bytes must outlive as above.
  void add_integers(const std::string& name, const std::string& dtype, uint64_t count, uintptr_t address,
                    size_t bytes);

  Status finish(bool gguf);
  // Instead of finish(): the header of a GGUF file with one F32 tensor [rows, cols], whose rows follow right behind it.
  // pieces() gives the header first.
  Status finish_header(const std::string& name, uint64_t rows, uint64_t cols);

  // The file from its first byte to its last, [{ zeros, address, bytes }]: runs of bytes, each after so many zeros.
  Answer pieces() const;

 private:
  Directory source_;
  std::vector<NamedTable> tables_;
  std::vector<NamedIntegers> integers_;
  Export file_;
};

}  // namespace id2vec

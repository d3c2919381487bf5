// Walks through a header whose length nobody knows beforehand. A length is compared with the bytes of the
// file before anything else happens; the first problem sticks, and from then on every call returns a neutral
// value, so a run of fields needs one check at its end. What it returns points into the FileSet and stays
// valid until that is fed again.
#pragma once

#include "containers/file_set.h"
#include "core/text.h"

namespace id2vec {

class Cursor {
 public:
  Cursor(FileSet& files, std::string_view file, uint64_t file_size)
      : files_(&files), file_(file), file_size_(file_size), held_(files.available(file, 0)) {}

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  uint64_t position() const { return at_; }
  uint64_t left() const { return file_size_ - at_; }

  // The next `length` bytes; empty on failure. `what` names them in the error sentence.
  Bytes take(uint64_t length, const char* what);
  template <class T>
  T get(const char* what) {
    const Bytes bytes = take(sizeof(T), what);
    return bytes.empty() ? T{} : load_le<T>(bytes.data());
  }
  // A length (u64) and as many bytes.
  std::string_view string(const char* what);

  // kTruncated where `count` things of at least `least_bytes` each cannot be in the rest of the file.
  Status check_count(const char* what, uint64_t count, uint64_t least_bytes) const;
  void refuse(Status status);

 private:
  FileSet* files_;
  std::string_view file_;
  uint64_t file_size_;
  uint64_t at_ = 0;
  Bytes held_;  // from the start of the file
  Status status_;
};

}  // namespace id2vec

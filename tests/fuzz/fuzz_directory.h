// What every fuzz target of a header reader does: the input is a file; the reader runs over it, restarted for every
// range it wants; what comes out is checked, and so is the memory that it took.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "containers/directory.h"
#include "containers/file_set.h"
#include "fuzz/memory_meter.h"
#include "support/inflate.h"

namespace id2vec::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// Every file that a header names exists and has the input's bytes. An odd length stands for a driver that hands
// over not one byte more than is wanted.
class Driver {
 public:
  explicit Driver(Bytes input) : input_(input), files_("root.bin"), exact_(input.size() % 2 == 1) {}

  FileSet& files() { return files_; }

  template <class Read>
  auto run(Read&& read) {
    while (true) {
      auto result = read(files_);
      if (result.status().code() != Code::kNeedBytes) return result;
      if (const Status status = answer(files_.want()); !status.ok()) return decltype(result)(status);
    }
  }

  // The bytes of a file, inflated where it is virtual.
  Bytes bytes(const std::string& file) {
    const DeflatedRange* range = files_.deflated(file);
    if (range == nullptr) return input_;
    if (inflated_name_ != file) {
      inflated_name_ = file;
      inflated_.clear();
      if (range->offset <= input_.size() && range->bytes <= input_.size() - range->offset) {
        inflated_ = test::Inflater(input_.subspan(range->offset, range->bytes), range->inflated).run();
      }
    }
    return inflated_;
  }

 private:
  Status answer(const Want want) {
    if (want.length == 0) {
      files_.set_size(want.file, input_.size());
      return {};
    }
    const Bytes source = bytes(want.file);
    const uint64_t length = exact_ ? want.length : std::max(want.length, want.suggested);
    if (want.offset > source.size() || length > source.size() - want.offset) {
      require(files_.deflated(want.file) != nullptr, "a range past the end of a file is never wanted");
      return Status(Code::kTruncated, "the compressed data ends early");
    }
    ID2VEC_ASSIGN(const MutableBytes room, files_.feed(want.file, want.offset, length));
    std::memcpy(room.data(), source.data() + want.offset, length);
    return {};
  }

  Bytes input_;
  FileSet files_;
  bool exact_;
  std::string inflated_name_;
  std::vector<uint8_t> inflated_;
};

// Whatever a directory says must hold for the files it is about.
inline void check_directory(Driver& driver, const Directory& directory) {
  for (const Tensor& tensor : directory.tensors) {
    require(tensor.dtype != nullptr, "a tensor has a dtype");
    require(tensor.file < directory.files.size(), "a tensor's file is in the list");
    const uint64_t stored = tensor.elements() / tensor.dtype->block_size * tensor.dtype->block_bytes;
    if (stored == 0) continue;
    if (!tensor.inline_bytes.empty()) {
      require(tensor.inline_bytes.size() == stored, "inline bytes are as many as the shape needs");
      continue;
    }
    const Result<uint64_t> size = driver.files().size(directory.files[tensor.file]);
    require(size.ok() && tensor.offset <= size.value() && tensor.bytes <= size.value() - tensor.offset,
            "a tensor lies within its file");
    require(stored <= tensor.bytes, "a tensor has bytes for its elements");
    require(tensor.strides.empty() ? stored == tensor.bytes : tensor.strides.size() == tensor.shape.size(),
            "strides are one per dimension or none");
  }
}

// `read` is a function (FileSet&) → Result<Directory>.
template <class Read>
int fuzz_directory(const uint8_t* data, size_t size, Read&& read) {
  MemoryMeter::install();
  const MemoryMeter meter;
  {
    Driver driver(Bytes(data, size));
    Result<Directory> directory = driver.run(read);
    if (directory.ok()) {
      check_directory(driver, directory.value());
    } else {
      require(!directory.status().message().empty(), "an error has a sentence");
    }
  }
  meter.check(size);
  return 0;
}

}  // namespace id2vec::fuzz

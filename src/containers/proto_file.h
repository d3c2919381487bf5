// Walks protocol-buffer messages that lie in a file, without reading their large fields.
#pragma once

#include <string>
#include <string_view>

#include "containers/file_set.h"
#include "containers/protobuf.h"

namespace id2vec {

// A message at [offset, offset + length) of the file.
struct ProtoRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

class ProtoFile {
 public:
  ProtoFile(FileSet& files, std::string_view file) : files_(files), file_(file) {}

  std::string_view name() const { return file_; }

  // The bytes of a range. Small ranges that follow each other are fetched in large pieces; after a jump over
  // more than kJump bytes (weights) only a little is.
  Result<Bytes> read(ProtoRange range);

  // Takes the field at the start of `rest` off it. For kBytes `payload` becomes its range, which lies in `rest`.
  Result<ProtoField> next(ProtoRange& rest, ProtoRange& payload);

 private:
  static constexpr uint64_t kJump = uint64_t{64} << 10;

  Result<Bytes> window(uint64_t offset, uint64_t length);

  FileSet& files_;
  std::string_view file_;
  Bytes held_;  // a run of the file that is there
  uint64_t held_offset_ = 0;
};

}  // namespace id2vec

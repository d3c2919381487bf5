// TensorProto → Tensor: where an initializer's elements lie, be it in this file, beside it, or in typed fields.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "containers/directory.h"
#include "containers/proto_file.h"

namespace id2vec {

// INT4, UINT4, INT2 and UINT2 are listed as U8 with a last dimension of bytes; this is what they were. Elements are
// packed over the whole tensor: where a row is no whole number of bytes, the next one starts inside its last byte, and
// the tensor is listed as one run of bytes.
struct OnnxPacked {
  uint32_t bits = 0;
  bool is_signed = false;
  std::vector<uint64_t> shape;  // in elements
};

class OnnxTensors {
 public:
  OnnxTensors(FileSet& files, ProtoFile& proto, Directory& directory)
      : files_(files), proto_(proto), directory_(directory) {}

  // Adds the TensorProto at `range` to the directory, under `name` if it has none of its own. Types that id2vec
  // has not go to directory.skipped; external data is compared with the size of its file.
  Status add(ProtoRange range, std::string_view name);
  // Null for a tensor of another type.
  const OnnxPacked* packed(std::string_view tensor) const;

 private:
  struct Parts;
  Status parse(ProtoRange range, Parts& parts);
  Status place(const Parts& parts, Tensor& tensor);
  Status place_external(const Parts& parts, Tensor& tensor);
  Status place_typed(const Parts& parts, Tensor& tensor);
  Status decode(ProtoRange range, uint32_t number, Tensor& tensor);
  Status broken(const Tensor& tensor, std::string_view what) const;

  FileSet& files_;
  ProtoFile& proto_;
  Directory& directory_;
  std::map<std::string, OnnxPacked, std::less<>> packed_;
  uint64_t inline_bytes_ = 0;  // decoded so far
};

}  // namespace id2vec

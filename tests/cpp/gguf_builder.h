// Makes GGUF files for tests, honest ones and others: every count and length can be overridden.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.h"

namespace id2vec {

class ByteWriter {
 public:
  template <class T>
  ByteWriter& put(T value) {
    const size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return *this;
  }
  ByteWriter& raw(std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    return *this;
  }
  ByteWriter& raw(Bytes more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return *this;
  }
  ByteWriter& text(std::string_view text) { return put<uint64_t>(text.size()).raw(text); }
  ByteWriter& align(size_t alignment) {
    while (bytes.size() % alignment != 0) bytes.push_back(0);
    return *this;
  }

  std::vector<uint8_t> bytes;
};

inline std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> dims;  // as in the file: fastest first
  uint32_t type = 0;
  std::vector<uint8_t> data{};
  std::optional<uint64_t> offset{};  // where it is to be a lie
  std::optional<uint32_t> n_dims{};
};

class GgufBuilder {
 public:
  uint32_t version = 3;
  uint64_t alignment = 32;
  bool pad = true;  // false: the file ends with the header
  std::optional<uint64_t> tensor_count{}, metadata_count{};
  std::vector<GgufTensor> tensors;

  // The value's bytes are whatever `write` puts there.
  template <class Write>
  GgufBuilder& raw(std::string_view key, uint32_t type, Write write) {
    metadata_.text(key).put<uint32_t>(type);
    write(metadata_);
    ++n_metadata_;
    return *this;
  }
  GgufBuilder& u32(std::string_view key, uint32_t value) {
    return raw(key, 4, [&](ByteWriter& w) { w.put(value); });
  }
  GgufBuilder& u16(std::string_view key, uint16_t value) {
    return raw(key, 2, [&](ByteWriter& w) { w.put(value); });
  }
  GgufBuilder& text(std::string_view key, std::string_view value) {
    return raw(key, 8, [&](ByteWriter& w) { w.text(value); });
  }
  template <class T>
  GgufBuilder& array(std::string_view key, uint32_t element_type, const std::vector<T>& values) {
    return raw(key, 9, [&](ByteWriter& w) {
      w.put<uint32_t>(element_type).put<uint64_t>(values.size());
      for (const T& value : values) w.put(value);
    });
  }
  GgufBuilder& texts(std::string_view key, const std::vector<std::string>& values) {
    return raw(key, 9, [&](ByteWriter& w) {
      w.put<uint32_t>(8).put<uint64_t>(values.size());
      for (const std::string& value : values) w.text(value);
    });
  }
  GgufBuilder& tensor(GgufTensor tensor) {
    tensors.push_back(std::move(tensor));
    return *this;
  }
  // An F32 tensor [rows, cols] whose element i is i.
  GgufBuilder& f32(std::string name, uint64_t rows, uint64_t cols) {
    ByteWriter data;
    for (uint64_t i = 0; i < rows * cols; ++i) data.put(static_cast<float>(i));
    return tensor({std::move(name), {cols, rows}, 0, std::move(data.bytes)});
  }

  std::vector<uint8_t> build() const {
    ByteWriter file;
    file.raw("GGUF").put(version);
    file.put<uint64_t>(tensor_count.value_or(tensors.size()))
        .put<uint64_t>(metadata_count.value_or(n_metadata_));
    file.raw(Bytes(metadata_.bytes));
    uint64_t offset = 0;
    for (const GgufTensor& tensor : tensors) {
      file.text(tensor.name).put<uint32_t>(tensor.n_dims.value_or(tensor.dims.size()));
      for (const uint64_t dim : tensor.dims) file.put(dim);
      file.put(tensor.type).put<uint64_t>(tensor.offset.value_or(offset));
      offset += (tensor.data.size() + alignment - 1) / alignment * alignment;
    }
    if (!pad) return file.bytes;
    for (const GgufTensor& tensor : tensors) file.align(alignment).raw(Bytes(tensor.data));
    file.align(alignment);
    return file.bytes;
  }

 private:
  ByteWriter metadata_;
  uint64_t n_metadata_ = 0;
};

}  // namespace id2vec

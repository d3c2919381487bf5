// Makes safetensors files for tests: honest ones from tensors, others from a header that is written out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cpp/gguf_builder.h"

namespace id2vec {

inline std::vector<uint8_t> safetensors_of(std::string_view header, size_t data_bytes) {
  ByteWriter file;
  file.text(header);
  file.bytes.resize(file.bytes.size() + data_bytes);
  return file.bytes;
}

class SafetensorsBuilder {
 public:
  SafetensorsBuilder& tensor(const std::string& name, const std::string& dtype,
                             const std::vector<uint64_t>& shape, const std::vector<uint8_t>& data) {
    const size_t begin = data_.bytes.size();
    data_.raw(Bytes(data));
    header_ += (header_.empty() ? "" : ",") + ("\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[");
    for (size_t i = 0; i < shape.size(); ++i) header_ += (i == 0 ? "" : ",") + std::to_string(shape[i]);
    header_ +=
        "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data_.bytes.size()) + "]}";
    return *this;
  }
  // F32, element i is first + i.
  SafetensorsBuilder& f32(const std::string& name, const std::vector<uint64_t>& shape, float first = 0) {
    ByteWriter data;
    uint64_t elements = 1;
    for (const uint64_t size : shape) elements *= size;
    for (uint64_t i = 0; i < elements; ++i) data.put(first + static_cast<float>(i));
    return tensor(name, "F32", shape, data.bytes);
  }
  std::vector<uint8_t> build() const {
    ByteWriter file;
    file.text("{" + header_ + "}").raw(Bytes(data_.bytes));
    return file.bytes;
  }

 private:
  std::string header_;
  ByteWriter data_;
};

}  // namespace id2vec

// Writes protocol buffers and small ONNX models for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gguf_builder.h"  // ByteWriter

namespace id2vec {

class Proto {
 public:
  Proto& varint(uint32_t field, uint64_t value) { return raw_varint(field * 8), raw_varint(value), *this; }
  Proto& bytes(uint32_t field, std::string_view text) {
    raw_varint(field * 8 + 2);
    raw_varint(text.size());
    out += text;
    return *this;
  }
  Proto& message(uint32_t field, const Proto& other) { return bytes(field, other.out); }
  Proto& fixed32(uint32_t field, uint32_t value) {
    raw_varint(field * 8 + 5);
    out.append(reinterpret_cast<const char*>(&value), 4);
    return *this;
  }
  // A field that claims `length` bytes, whatever follows.
  Proto& claim(uint32_t field, uint64_t length) {
    return raw_varint(field * 8 + 2), raw_varint(length), *this;
  }

  std::string out;

 private:
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }
};

namespace onnx {

enum Type : uint64_t {
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kI64 = 7,
  kString = 8,
  kF16 = 10,
  kBF16 = 16,
  kU4 = 21,
  kI4 = 22
};

// Without elements: add raw_data (9) or another field.
inline Proto tensor(std::string_view name, Type type, const std::vector<uint64_t>& dims) {
  Proto proto;
  for (const uint64_t size : dims) proto.varint(1, size);
  return proto.varint(2, type).bytes(8, name);
}
inline Proto raw_tensor(std::string_view name, Type type, const std::vector<uint64_t>& dims, size_t length) {
  return tensor(name, type, dims).bytes(9, std::string(length, '\x01'));
}
inline Proto external(std::string_view name, std::string_view location, std::string_view offset,
                      std::string_view length) {
  Proto proto = tensor(name, kF32, {4, 2});
  for (const auto& [key, value] : {std::pair{"location", location}, {"offset", offset}, {"length", length}}) {
    if (!value.empty()) proto.message(13, Proto().bytes(1, key).bytes(2, value));
  }
  return proto.varint(14, 1);
}

inline Proto attribute(std::string_view name, int64_t value) {
  return Proto().bytes(1, name).varint(3, static_cast<uint64_t>(value)).varint(20, 2);
}
inline Proto node(std::string_view op, const std::vector<std::string_view>& inputs,
                  const std::vector<std::string_view>& outputs, const std::vector<Proto>& attributes = {}) {
  Proto proto;
  for (const std::string_view input : inputs) proto.bytes(1, input);
  for (const std::string_view output : outputs) proto.bytes(2, output);
  proto.bytes(4, op);
  for (const Proto& each : attributes) proto.message(5, each);
  return proto;
}

inline Proto graph(const std::vector<Proto>& nodes, const std::vector<Proto>& tensors) {
  Proto proto;
  for (const Proto& each : nodes) proto.message(1, each);
  for (const Proto& each : tensors) proto.message(5, each);
  for (const char* input : {"input_ids", "token_type_ids", "position_ids", "h"})
    proto.message(11, Proto().bytes(1, input));
  return proto.message(12, Proto().bytes(1, "logits"));
}
inline std::vector<uint8_t> model(const Proto& graph) {
  const std::string out = Proto().varint(1, 8).message(7, graph).message(8, Proto().varint(2, 17)).out;
  return {out.begin(), out.end()};
}

}  // namespace onnx
}  // namespace id2vec

// The wire format of protocol buffers: a message is a sequence of fields, each a tag (number · 8 + wire type) and
// a value. Source: protobuf.dev/programming-guides/encoding.
//
//   wire type 0  varint: 7 bits per byte, low ones first     1  8 bytes     2  varint length, bytes     5  4 bytes
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/bytes.h"

namespace id2vec {

struct ProtoField {
  enum Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  uint32_t number = 0;
  Wire wire = kVarint;
  uint64_t value = 0;  // the number, or the length of the bytes
  size_t header = 0;   // bytes of tag and value (of tag and length for kBytes)
};

// Longest tag and value: two varints.
constexpr size_t kProtoHeaderBytes = 20;

// The field at the start of `bytes`, whose own payload (for kBytes) need not be there. nullopt where `bytes` ends
// within the header, a varint has more than 64 bits, the number is 0 or the wire type is none of the four.
std::optional<ProtoField> parse_proto_field(Bytes bytes);

// One varint off the front of `bytes`.
std::optional<uint64_t> take_varint(Bytes& bytes);

// A message that is in memory as a whole:  for (ProtoMessage m(bytes); m.next();) … m.field(), m.bytes()
class ProtoMessage {
 public:
  explicit ProtoMessage(Bytes message) : rest_(message) {}

  // False at the end of the message and where it is broken.
  bool next();
  bool broken() const { return broken_; }
  const ProtoField& field() const { return field_; }
  // Of the current field, if it is of kBytes.
  Bytes bytes() const { return payload_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(payload_.data()), payload_.size()}; }

 private:
  Bytes rest_, payload_;
  ProtoField field_;
  bool broken_ = false;
};

}  // namespace id2vec

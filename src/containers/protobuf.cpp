#include "containers/protobuf.h"

namespace id2vec {

std::optional<uint64_t> take_varint(Bytes& bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const uint64_t bits = bytes[i] & 0x7F;
    if (i == 9 && bits > 1) return std::nullopt;  // would be bit 64
    value |= bits << (7 * i);
    if (bytes[i] < 0x80) {
      bytes = bytes.subspan(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<ProtoField> parse_proto_field(Bytes bytes) {
  Bytes rest = bytes;
  const std::optional<uint64_t> tag = take_varint(rest);
  if (!tag || *tag < 8 || *tag > UINT32_MAX) return std::nullopt;
  ProtoField field;
  field.number = static_cast<uint32_t>(*tag >> 3);
  field.wire = static_cast<ProtoField::Wire>(*tag & 7);
  switch (field.wire) {
    case ProtoField::kVarint:
    case ProtoField::kBytes: {
      const std::optional<uint64_t> value = take_varint(rest);
      if (!value) return std::nullopt;
      field.value = *value;
      break;
    }
    case ProtoField::kFixed64:
      if (rest.size() < 8) return std::nullopt;
      field.value = load_le<uint64_t>(rest.data());
      rest = rest.subspan(8);
      break;
    case ProtoField::kFixed32:
      if (rest.size() < 4) return std::nullopt;
      field.value = load_le<uint32_t>(rest.data());
      rest = rest.subspan(4);
      break;
    default: return std::nullopt;
  }
  field.header = bytes.size() - rest.size();
  return field;
}

bool ProtoMessage::next() {
  if (rest_.empty() || broken_) return false;
  const std::optional<ProtoField> field = parse_proto_field(rest_);
  broken_ = !field || (field->wire == ProtoField::kBytes && field->value > rest_.size() - field->header);
  if (broken_) return false;
  field_ = *field;
  payload_ = rest_.subspan(field->header, field->wire == ProtoField::kBytes ? field->value : 0);
  rest_ = rest_.subspan(field->header + payload_.size());
  return true;
}

}  // namespace id2vec

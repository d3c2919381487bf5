#include "containers/proto_file.h"

#include <algorithm>

#include "core/text.h"

namespace id2vec {

// At least `length` bytes at `offset`, and all that lie behind them without a gap.
Result<Bytes> ProtoFile::window(uint64_t offset, uint64_t length) {
  const bool inside = offset >= held_offset_ && offset - held_offset_ <= held_.size();
  if (inside && held_.size() - (offset - held_offset_) >= length) return held_.subspan(offset - held_offset_);
  const uint64_t held_end = held_offset_ + held_.size();
  const bool jumped = !held_.empty() && (offset < held_offset_ || offset > held_end + kJump);
  // Without a jump the gap is fetched too: what lies there is wanted later.
  const uint64_t from = jumped || held_.empty() ? offset : std::min(offset, held_end);
  const Bytes there = files_.available(file_, from);
  if (there.size() < offset - from + length) {
    const Result<Bytes> read = jumped ? files_.read_between(file_, from, offset - from + length)
                                      : files_.read(file_, from, offset - from + length);
    if (!read.ok()) return read.status();
  }
  held_ = files_.available(file_, offset);
  held_offset_ = offset;
  if (held_.size() < length) return Bytes();
  return held_;
}

Result<Bytes> ProtoFile::read(ProtoRange range) {
  if (range.length == 0) return Bytes();
  ID2VEC_ASSIGN(const Bytes bytes, window(range.offset, range.length));
  return bytes.first(range.length);
}

Result<ProtoField> ProtoFile::next(ProtoRange& rest, ProtoRange& payload) {
  const uint64_t ahead = std::min<uint64_t>(kProtoHeaderBytes, rest.length);
  ID2VEC_ASSIGN(const Bytes bytes, window(rest.offset, ahead));
  const std::optional<ProtoField> field = parse_proto_field(bytes.first(ahead));
  if (!field) return fail(Code::kMalformed, file_, ": broken protocol buffer at byte ", rest.offset);
  payload = {rest.offset + field->header, field->wire == ProtoField::kBytes ? field->value : 0};
  if (payload.length > rest.length - field->header) {
    return fail(Code::kMalformed, file_, ": field ", field->number, " at byte ", rest.offset, " claims ",
                field->value, " bytes where its message has only ", rest.length - field->header, " left");
  }
  rest.offset += field->header + payload.length;
  rest.length -= field->header + payload.length;
  return *field;
}

}  // namespace id2vec

#include "containers/gguf_cursor.h"

namespace id2vec {

void Cursor::refuse(Status status) {
  if (ok()) status_ = std::move(status);
}

Bytes Cursor::take(uint64_t length, const char* what) {
  if (!ok()) return {};
  if (length > left()) {
    refuse(fail(Code::kTruncated, file_, ": ", what, " at byte ", at_, " takes ", length,
                " bytes, but the file ends at byte ", file_size_));
    return {};
  }
  if (length > held_.size() - at_) {
    // Asked for from the start, so that the FileSet sees how long the header has become.
    Result<Bytes> more = files_->read(file_, 0, at_ + length);
    if (!more.ok()) {
      refuse(more.status());
      return {};
    }
    held_ = files_->available(file_, 0);
  }
  const Bytes bytes = held_.subspan(at_, length);
  at_ += length;
  return bytes;
}

std::string_view Cursor::string(const char* what) {
  const auto length = get<uint64_t>(what);
  const Bytes bytes = take(length, what);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status Cursor::check_count(const char* what, uint64_t count, uint64_t least_bytes) const {
  if (count <= left() / least_bytes) return {};
  return fail(Code::kTruncated, file_, ": the header announces ", count, " ", what, ", but only ", left(),
              " bytes follow");
}

}  // namespace id2vec

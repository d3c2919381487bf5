#include "answer.h"

#include <cstring>

namespace id2vec {

// A capacity without bytes is that of an answer which there was no memory for.
void Answer::append(const void* from, size_t count) {
  if (size_ + count > capacity_ || size_ + count < size_) {
    if (bytes_ == nullptr && capacity_ != 0) return;
    capacity_ = size_ + count + (size_ + count) / 2;
    void* grown = capacity_ < size_ ? nullptr : std::realloc(bytes_, capacity_);
    if (grown == nullptr) std::free(bytes_);
    bytes_ = static_cast<uint8_t*>(grown);
  }
  if (bytes_ != nullptr) std::memcpy(bytes_ + size_, from, count);
  size_ += count;
}

void Answer::put(double value) {
  put_kind('n');
  append(&value, sizeof value);
}

void Answer::put(std::string_view text) {
  const auto length = static_cast<uint32_t>(text.size());
  put_kind('t');
  append(&length, sizeof length);
  append(text.data(), length);
}

uint8_t* Answer::release() {
  const auto length = static_cast<uint32_t>(size_ - kLength);
  if (bytes_ != nullptr) std::memcpy(bytes_, &length, kLength);
  return std::exchange(bytes_, nullptr);
}

}  // namespace id2vec

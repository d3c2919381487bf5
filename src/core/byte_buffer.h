// A block of bytes that grows, and reports instead of aborting when the allocator says no.
#pragma once

#include <cstdlib>
#include <utility>

#include "core/bytes.h"

namespace id2vec {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ByteBuffer() { std::free(data_); }

  // Keeps the first min(old, new) bytes; new ones are uninitialised. False (and no change) where memory is
  // short.
  [[nodiscard]] bool resize(size_t size) {
    if (size == 0) {
      std::free(std::exchange(data_, nullptr));
      size_ = 0;
      return true;
    }
    void* moved = std::realloc(data_, size);
    if (moved == nullptr) return false;
    data_ = static_cast<uint8_t*>(moved);
    size_ = size;
    return true;
  }

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  operator Bytes() const { return {data_, size_}; }
  operator MutableBytes() { return {data_, size_}; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace id2vec

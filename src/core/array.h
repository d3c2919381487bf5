// A growable array of plain values whose growth can fail without an abort: the standard containers call
// abort() where exceptions are off and memory is out. Elements that growth adds are zero.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace id2vec {

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  ~Array() { std::free(data_); }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  // False if there is no memory for it; the array is then as it was.
  [[nodiscard]] bool reserve(size_t count) {
    if (count <= capacity_) return true;
    if (count > SIZE_MAX / sizeof(T)) return false;
    void* const grown = std::realloc(data_, count * sizeof(T));
    if (grown == nullptr) return false;
    data_ = static_cast<T*>(grown);
    capacity_ = count;
    return true;
  }

  // Grows by half of what is there at least, so that a sequence of growths costs linear time.
  [[nodiscard]] bool resize(size_t count) {
    if (count > capacity_ &&
        !reserve(count > capacity_ + capacity_ / 2 ? count : capacity_ + capacity_ / 2)) {
      if (!reserve(count)) return false;
    }
    if (count > size_) std::memset(static_cast<void*>(data_ + size_), 0, (count - size_) * sizeof(T));
    size_ = count;
    return true;
  }

  [[nodiscard]] bool push_back(T value) {
    if (!resize(size_ + 1)) return false;
    data_[size_ - 1] = value;
    return true;
  }

  // Keeps the memory.
  void clear() { size_ = 0; }
  // Gives the memory back.
  void release() { Array().swap(*this); }

  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  uint64_t capacity_bytes() const { return uint64_t{capacity_} * sizeof(T); }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace id2vec

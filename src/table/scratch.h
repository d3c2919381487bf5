// Memory for the length of one call: freed when it leaves its scope, null where the allocator says no.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace id2vec {

class Scratch {
 public:
  static constexpr size_t kAlignment = 64;  // a cache line

  explicit Scratch(size_t bytes) : memory_(static_cast<uint8_t*>(std::malloc(bytes + kAlignment))) {}
  ~Scratch() { std::free(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  uint8_t* data() const {
    if (memory_ == nullptr) return nullptr;
    return memory_ + (kAlignment - reinterpret_cast<uintptr_t>(memory_) % kAlignment);
  }

 private:
  uint8_t* memory_;
};

}  // namespace id2vec

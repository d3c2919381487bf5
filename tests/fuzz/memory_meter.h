// The invariant "a file decides nothing about memory beyond its own size", measured: how many bytes are allocated
// at the same time, by hooks into the sanitizer's allocator.
#pragma once

#include <sanitizer/allocator_interface.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace id2vec::fuzz {

class MemoryMeter {
 public:
  // Called first in every target; hooks can be installed once only.
  static void install() {
    static const bool installed = __sanitizer_install_malloc_and_free_hooks(
                                      [](const volatile void*, size_t size) {
                                        live_ += size;
                                        if (live_ > static_cast<long long>(peak_)) peak_ = live_;
                                      },
                                      [](const volatile void* memory) {
                                        const auto* block = const_cast<const void*>(memory);
                                        if (block != nullptr) live_ -= __sanitizer_get_allocated_size(block);
                                      }) != 0;
    if (!installed) std::abort();
  }

  MemoryMeter() {
    live_ = 0;
    peak_ = 0;
  }

  // Stops the target where more than 2 MB + 1,300 bytes for every byte of the file were in use at once. (Deflate
  // makes up to 1,032 bytes out of one.)
  void check(size_t file_size) const {
    const size_t limit = (size_t{2} << 20) + 1300 * file_size;
    if (static_cast<size_t>(peak_) <= limit) return;
    std::fprintf(stderr, "a file of %zu bytes made the core hold %lld bytes, more than %zu\n", file_size,
                 peak_, limit);
    std::abort();
  }

 private:
  static inline thread_local long long live_ = 0, peak_ = 0;
};

}  // namespace id2vec::fuzz

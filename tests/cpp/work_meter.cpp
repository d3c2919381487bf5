#include "cpp/work_meter.h"

#include <sanitizer/allocator_interface.h>

#include <cstdint>

namespace id2vec::test {
namespace {

size_t comparisons = 0;
size_t allocated = 0;

}  // namespace

Work work_so_far() {
  static const bool installed =
      __sanitizer_install_malloc_and_free_hooks([](const volatile void*, size_t size) { allocated += size; },
                                                [](const volatile void*) {}) != 0;
  return installed ? Work{comparisons, allocated} : Work{};
}

// Clang's instrumentation calls these before each comparison; the sanitizer's own do nothing.
// https://clang.llvm.org/docs/SanitizerCoverage.html#tracing-data-flow
extern "C" {
void __sanitizer_cov_trace_cmp1(uint8_t, uint8_t) { ++comparisons; }
void __sanitizer_cov_trace_cmp2(uint16_t, uint16_t) { ++comparisons; }
void __sanitizer_cov_trace_cmp4(uint32_t, uint32_t) { ++comparisons; }
void __sanitizer_cov_trace_cmp8(uint64_t, uint64_t) { ++comparisons; }
void __sanitizer_cov_trace_const_cmp1(uint8_t, uint8_t) { ++comparisons; }
void __sanitizer_cov_trace_const_cmp2(uint16_t, uint16_t) { ++comparisons; }
void __sanitizer_cov_trace_const_cmp4(uint32_t, uint32_t) { ++comparisons; }
void __sanitizer_cov_trace_const_cmp8(uint64_t, uint64_t) { ++comparisons; }
}

}  // namespace id2vec::test

#include "kernels/tables.h"

namespace id2vec {
namespace {

// A WebAssembly module with a relaxed instruction in it is refused as a whole by an engine that lacks them; so
// the simd128 module is built without. The native build carries everything.
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
constexpr const KernelTable* kTables[] = {&kScalarKernels, &kSimd128Kernels};
#elif defined(__wasm__)
constexpr const KernelTable* kTables[] = {&kScalarKernels, &kRelaxedKernels};
#else
constexpr const KernelTable* kTables[] = {&kScalarKernels, &kSimd128Kernels, &kRelaxedKernels};
#endif

}  // namespace

KernelTables kernel_tables() { return {std::begin(kTables), std::end(kTables)}; }

const KernelTable* kernel_table(std::string_view isa) {
  if (isa == "auto") return *(std::end(kTables) - 1);
  for (const KernelTable* table : kTables) {
    if (table->isa == isa) return table;
  }
  return nullptr;
}

}  // namespace id2vec

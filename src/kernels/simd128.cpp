// WebAssembly's fixed-width SIMD.
#include "kernels/tables.h"
#include "kernels/v128.h"

namespace id2vec {
namespace {

struct Simd128 {
  static constexpr bool kDotI7 = false;
  static v128_t madd(v128_t a, v128_t b, v128_t c) { return wasm_f32x4_add(wasm_f32x4_mul(a, b), c); }
};

constexpr auto kFormats = v128::kernels_of<Simd128>(Formats{});

}  // namespace

const KernelTable kSimd128Kernels{"simd128", kFormats.data()};

}  // namespace id2vec

// WebAssembly's relaxed SIMD. The dot product is exact everywhere as long as its second operand is in 0 … 127.
#include "kernels/relaxed_simd.h"
#include "kernels/tables.h"
#include "kernels/v128.h"

namespace id2vec {
namespace {

struct Relaxed {
  static constexpr bool kDotI7 = true;
  static v128_t madd(v128_t a, v128_t b, v128_t c) { return wasm_f32x4_relaxed_madd(a, b, c); }
  static v128_t dot_i16x8(v128_t i8, v128_t i7) { return wasm_i16x8_relaxed_dot_i8x16_i7x16(i8, i7); }
};

constexpr auto kFormats = v128::kernels_of<Relaxed>(Formats{});

}  // namespace

const KernelTable kRelaxedKernels{"relaxed", kFormats.data()};

}  // namespace id2vec

// What a format is: how a block of weights is laid out in memory, and which number each weight is.
//
// A format is a struct without data members:
//
//   kName, kGgmlType   the name as GGUF or safetensors spell it; GGUF's number, −1 where it has none
//   kBlockSize         weights per block; a row of d weights is d / kBlockSize blocks, one after the other
//   Block              the block as it lies in the file, little-endian, with a static_assert on its size
//   value(block, i)    weight i of a block: THE definition, bit for bit that of the published reference
//
// Nearly every quantized format is affine in groups: weight = scale · q + offset, with a small integer q.
// Such a format (GroupFormat) also has
//
//   kGroupSize             weights that share one (scale, offset)
//   kQuantMin, kQuantMax   the range of q; always inside int8
//   kHasOffset             false: weight = scale · q exactly (adding 0 would turn −0 into +0)
//   quant(block, i)        q of weight i
//   affine(block, group)   scale and offset of a group
//
// and its value() is group_value<F>(). A format may add a SIMD unpack(); kernels/v128.h says how.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace id2vec {

// weight = scale · q + offset; one rounding after the product and one after the sum.
struct Affine {
  float scale = 0;
  float offset = 0;
};

template <class F>
concept Format = requires(const typename F::Block& block, size_t index) {
  { F::kName } -> std::convertible_to<std::string_view>;
  { F::kGgmlType } -> std::convertible_to<int32_t>;
  { F::kBlockSize } -> std::convertible_to<size_t>;
  { F::value(block, index) } -> std::same_as<float>;
  requires std::is_trivially_copyable_v<typename F::Block>;
};

template <class F>
concept GroupFormat = Format<F> && requires(const typename F::Block& block, size_t index) {
  { F::kGroupSize } -> std::convertible_to<size_t>;
  { F::kHasOffset } -> std::convertible_to<bool>;
  { F::quant(block, index) } -> std::same_as<int32_t>;
  { F::affine(block, index) } -> std::same_as<Affine>;
  requires F::kBlockSize % F::kGroupSize == 0;
  requires F::kQuantMin >= -128 && F::kQuantMax <= 127;
};

template <class F>
constexpr float group_value(const typename F::Block& block, size_t i) {
  const Affine affine = F::affine(block, i / F::kGroupSize);
  const float product = affine.scale * float(F::quant(block, i));
  if constexpr (F::kHasOffset) return product + affine.offset;
  return product;
}

}  // namespace id2vec

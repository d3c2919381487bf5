// Tables of every format for tests: random bytes are valid blocks of any format, so no quantizer is needed. Where
// a block's bytes would make a scale infinite or NaN, other bytes are drawn.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "formats/formats.h"
#include "table/table.h"

namespace id2vec {

inline std::vector<float> random_floats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// Whether every weight of the block is an ordinary number: finite, and not so large that sums overflow.
template <class F>
bool ordinary(const typename F::Block& block) {
  for (size_t i = 0; i < F::kBlockSize; ++i) {
    if (!(std::fabs(F::value(block, i)) < 1e12f)) return false;
  }
  return true;
}

template <class F>
void fill_random(MutableBytes bytes, uint32_t seed) {
  std::mt19937 random(seed);
  for (size_t at = 0; at < bytes.size(); at += sizeof(typename F::Block)) {
    typename F::Block block;
    do {
      uint8_t raw[sizeof block];
      for (uint8_t& byte : raw) byte = uint8_t(random());
      std::memcpy(&block, raw, sizeof block);
    } while (!ordinary<F>(block));
    std::memcpy(bytes.data() + at, &block, sizeof block);
  }
}

// Normally distributed scales or biases.
inline void fill_random_scales(MutableBytes bytes, ScaleType type, uint32_t seed) {
  const std::vector<float> values = random_floats(bytes.size() / scale_bytes(type), seed);
  for (size_t i = 0; i < values.size(); ++i) {
    switch (type) {
      case ScaleType::kF32: store_le(bytes.data() + 4 * i, values[i]); break;
      case ScaleType::kF16: store_le(bytes.data() + 2 * i, float_to_f16(values[i])); break;
      case ScaleType::kBF16: store_le(bytes.data() + 2 * i, float_to_bf16(values[i])); break;
    }
  }
}

// Any byte is a valid quant or zero point.
inline void fill_random_planes(Table& table, uint32_t seed) {
  std::mt19937 random(seed);
  const AffineSpec& affine = table.spec().affine;
  for (size_t plane : {0, 2}) {
    for (uint8_t& byte : table.plane(plane)) byte = uint8_t(random());
  }
  fill_random_scales(table.plane(1), affine.scale_type, seed + 1);
  if (affine.offsets == Offsets::kBiases) fill_random_scales(table.plane(2), affine.scale_type, seed + 2);
}

// `affine`: what an affine format gets.
template <class F>
std::unique_ptr<Table> random_table(const KernelTable& kernels, uint64_t rows, uint32_t cols,
                                    uint32_t seed = 1,
                                    AffineSpec affine = {.group_size = 32, .offsets = Offsets::kBiases}) {
  const TableSpec spec{dtype_by_name(F::kName), rows, cols, affine};
  std::unique_ptr<Table> table = std::move(Table::allocate(spec, kernels).value());
  if constexpr (PlanarFormat<F>) {
    fill_random_planes(*table, seed);
  } else {
    fill_random<F>(table->plane(0), seed);
  }
  return table;
}

// Weight (row, col) by the definition.
template <class F>
float weight(const Table& table, uint64_t row, uint32_t col) {
  const auto& planes = table.view().planes;
  if constexpr (PlanarFormat<F>) {
    return F::value({planes[0].data + row * planes[0].row_bytes, planes[1].data + row * planes[1].row_bytes,
                     planes[2].data + row * planes[2].row_bytes, &table.view().affine},
                    col);
  } else {
    typename F::Block block;
    const uint8_t* bytes = planes[0].data + row * planes[0].row_bytes;
    std::memcpy(&block, bytes + col / F::kBlockSize * sizeof block, sizeof block);
    return F::value(block, col % F::kBlockSize);
  }
}

}  // namespace id2vec

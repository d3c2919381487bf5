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

template <class F>
std::unique_ptr<Table> random_table(const KernelTable& kernels, uint64_t rows, uint32_t cols, uint32_t seed = 1) {
  const TableSpec spec{dtype_by_name(F::kName), rows, cols, 0};
  std::unique_ptr<Table> table = std::move(Table::allocate(spec, kernels).value());
  fill_random<F>(table->plane(0), seed);
  return table;
}

// Weight (row, col) by the definition.
template <class F>
float weight(const Table& table, uint64_t row, uint32_t col) {
  const Plane& plane = table.view().planes[0];
  typename F::Block block;
  std::memcpy(&block, plane.data + row * plane.row_bytes + col / F::kBlockSize * sizeof block, sizeof block);
  return F::value(block, col % F::kBlockSize);
}

}  // namespace id2vec

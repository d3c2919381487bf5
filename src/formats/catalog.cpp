#include "formats/catalog.h"

#include <array>

#include "formats/formats.h"

namespace id2vec {
namespace {

struct PlainType {
  std::string_view name;
  int32_t ggml_type;
  uint32_t bytes;
};

constexpr PlainType kPlainTypes[] = {
    {"I8", 24, 1},  {"I16", 25, 2}, {"I32", 26, 4}, {"I64", 27, 8},  {"U8", -1, 1},
    {"U16", -1, 2}, {"U32", -1, 4}, {"U64", -1, 8}, {"BOOL", -1, 1},
};

constexpr auto kDtypes = [] {
  std::array<Dtype, Formats::kCount + std::size(kPlainTypes)> all{};
  size_t n = 0;
  Formats::for_each([&]<class F>() {
    all[n] = {F::kName,        F::kGgmlType, uint32_t(F::kBlockSize), uint32_t(sizeof(typename F::Block)),
              PlanarFormat<F>, int32_t(n)};
    ++n;
  });
  for (const PlainType& plain : kPlainTypes)
    all[n++] = {plain.name, plain.ggml_type, 1, plain.bytes, false, -1};
  return all;
}();

}  // namespace

std::span<const Dtype> dtypes() { return kDtypes; }

const Dtype* dtype_by_name(std::string_view name) {
  for (const Dtype& dtype : kDtypes) {
    if (dtype.name == name) return &dtype;
  }
  return nullptr;
}

const Dtype* dtype_by_ggml_type(uint32_t type) {
  if (type > INT32_MAX) return nullptr;  // would compare equal to "none" after the cast
  for (const Dtype& dtype : kDtypes) {
    if (dtype.ggml_type == int32_t(type)) return &dtype;
  }
  return nullptr;
}

}  // namespace id2vec

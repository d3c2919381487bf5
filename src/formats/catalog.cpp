#include "formats/catalog.h"

#include <array>

#include "formats/formats.h"

namespace id2vec {
namespace {

constexpr Dtype kPlainTypes[] = {
    {"I8", 24, 1, 1, -1},  {"I16", 25, 1, 2, -1}, {"I32", 26, 1, 4, -1},
    {"I64", 27, 1, 8, -1}, {"U8", -1, 1, 1, -1},  {"U16", -1, 1, 2, -1},
    {"U32", -1, 1, 4, -1}, {"U64", -1, 1, 8, -1}, {"BOOL", -1, 1, 1, -1},
};

constexpr auto kDtypes = [] {
  std::array<Dtype, Formats::kCount + std::size(kPlainTypes)> all{};
  size_t n = 0;
  Formats::for_each([&]<class F>() {
    all[n] = {F::kName, F::kGgmlType, uint32_t(F::kBlockSize), uint32_t(sizeof(typename F::Block)),
              int32_t(n)};
    ++n;
  });
  for (const Dtype& plain : kPlainTypes) all[n++] = plain;
  return all;
}();

}  // namespace

std::span<const Dtype> dtypes() {
  return kDtypes;
}

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

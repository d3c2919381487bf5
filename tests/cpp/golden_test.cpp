// value() of every format against blocks that ggml quantized and dequantized, bit for bit: all rows of the
// golden data where the corpus is there, and one block per format that is kept in the tree
// (format_excerpts.h).
#include <gtest/gtest.h>

#include <bit>
#include <cctype>
#include <cstring>
#include <map>

#include "corpus.h"
#include "format_excerpts.h"
#include "formats/catalog.h"
#include "formats/formats.h"

namespace id2vec {
namespace {

// Types that ggml defines but its golden generator does not write, and types that ggml does not have.
constexpr std::string_view kNotGolden[] = {"F64", "F8_E4M3", "F8_E5M2", "Q8_1"};

bool is_golden(std::string_view name) {
  for (std::string_view other : kNotGolden) {
    if (name == other) return false;
  }
  return true;
}

// A file that is nothing but little-endian elements of type T.
template <class T>
std::vector<T> corpus_array(const std::string& name) {
  const std::vector<uint8_t> bytes = corpus_file(name);
  std::vector<T> array(bytes.size() / sizeof(T));
  if (!array.empty()) std::memcpy(array.data(), bytes.data(), array.size() * sizeof(T));
  return array;
}

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = char(std::tolower(c));
  return text;
}

template <class F>
std::vector<float> decode(const std::vector<typename F::Block>& blocks) {
  std::vector<float> values;
  for (const auto& block : blocks) {
    for (size_t i = 0; i < F::kBlockSize; ++i) values.push_back(F::value(block, i));
  }
  return values;
}

template <class F>
void expect_golden() {
  SCOPED_TRACE(F::kName);
  const std::string stem = "golden/" + lower(F::kName);
  const std::vector<float> actual = decode<F>(corpus_array<typename F::Block>(stem + ".bin"));
  const auto expected = corpus_array<uint32_t>(stem + ".f32");
  ASSERT_EQ(expected.size(), 8u * 512u);
  ASSERT_EQ(actual.size(), expected.size());
  size_t differing = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::bit_cast<uint32_t>(actual[i]) == expected[i]) continue;
    if (differing++ == 0) {
      ADD_FAILURE() << "weight " << i << " is " << actual[i] << ", not " << std::bit_cast<float>(expected[i]);
    }
  }
  EXPECT_EQ(differing, 0u);
}

TEST(Golden, EveryFormatDecodesBitForBit) {
  ID2VEC_NEED_CORPUS();
  size_t checked = 0;
  Formats::for_each([&]<class F>() {
    if constexpr (Format<F>) {
      if (!is_golden(F::kName)) return;
      expect_golden<F>();
      ++checked;
    }
  });
  EXPECT_EQ(checked, 28u);  // as many as the golden data has
}

// FNV-1a over the bits of all values, as they would lie in memory.
uint64_t checksum(const std::vector<float>& values) {
  uint64_t hash = 0xcbf29ce484222325;
  for (float value : values) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ (bits >> shift & 255)) * 0x100000001b3;
  }
  return hash;
}

std::vector<uint8_t> bytes_of(std::string_view hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(uint8_t(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

template <class F>
void expect_excerpt(const FormatExcerpt& excerpt) {
  SCOPED_TRACE(F::kName);
  const std::vector<uint8_t> bytes = bytes_of(excerpt.block_hex);
  ASSERT_EQ(bytes.size(), sizeof(typename F::Block));
  std::vector<typename F::Block> blocks(1);
  std::memcpy(blocks.data(), bytes.data(), bytes.size());
  const std::vector<float> values = decode<F>(blocks);
  for (size_t i = 0; i < std::min(values.size(), std::size(excerpt.first)); ++i) {
    EXPECT_EQ(values[i], excerpt.first[i]) << "weight " << i;
  }
  EXPECT_EQ(checksum(values), excerpt.checksum);
}

TEST(FormatExcerpts, EveryFormatDecodesItsBlock) {
  Formats::for_each([]<class F>() {
    if constexpr (Format<F>) {  // the others: affine_test.cpp
      for (const FormatExcerpt& excerpt : kFormatExcerpts) {
        if (excerpt.name == F::kName) return expect_excerpt<F>(excerpt);
      }
      ADD_FAILURE() << "no excerpt for " << F::kName;
    }
  });
}

// The range that a format states is what its quants stay in, for arbitrary bytes: integer kernels rely on it.
template <class F>
void expect_quants_in_range() {
  if constexpr (GroupFormat<F>) {
    SCOPED_TRACE(F::kName);
    uint32_t random = 1;
    int32_t low = 0, high = 0;
    for (int round = 0; round < 500; ++round) {
      typename F::Block block;
      auto* bytes = reinterpret_cast<uint8_t*>(&block);
      for (size_t i = 0; i < sizeof block; ++i)
        bytes[i] = uint8_t((random = random * 1664525 + 1013904223) >> 24);
      for (size_t i = 0; i < F::kBlockSize; ++i) {
        low = std::min(low, F::quant(block, i));
        high = std::max(high, F::quant(block, i));
      }
    }
    EXPECT_EQ(low, F::kQuantMin);
    EXPECT_EQ(high, F::kQuantMax);
  }
}

TEST(Formats, QuantsFillTheirStatedRange) {
  Formats::for_each([]<class F>() { expect_quants_in_range<F>(); });
}

// Rows are in increasing order of their number and made of legal digits; the last one closes the list.
void expect_grid(uint32_t (*row)(uint32_t), uint32_t rows, uint32_t digit_bits, uint32_t base,
                 uint32_t last) {
  const uint32_t digits = digit_bits == 2 ? 8 : 4;
  for (uint32_t index = 0; index < rows; ++index) {
    for (uint32_t i = 0; i < digits; ++i) {
      EXPECT_LT(row(index) >> (i * digit_bits) & ((1u << digit_bits) - 1), base) << index;
    }
    // Digits are packed from the low bits up, so packed rows are ordered as the numbers are.
    if (index > 0) {
      EXPECT_LT(row(index - 1), row(index)) << index;
    }
  }
  EXPECT_EQ(row(0), 0u);
  EXPECT_EQ(row(rows - 1), last);
}

TEST(IqGrids, AreIncreasingListsOfLegalDigits) {
  expect_grid(iq1_s_row, 2048, 2, 3, 0xaaaa);
  expect_grid(iq2_xxs_row, 256, 2, 3, 0xa904);
  expect_grid(iq2_xs_row, 512, 2, 3, 0xaaaa);
  expect_grid(iq2_s_row, 1024, 2, 3, 0xaaaa);
  expect_grid(iq3_xxs_row, 256, 3, 8, 07630);
  expect_grid(iq3_s_row, 512, 3, 8, 07700);
}

TEST(Catalog, ListsEveryFormatInOrderAndThenPlainTypes) {
  ASSERT_GT(dtypes().size(), Formats::kCount);
  for (size_t i = 0; i < dtypes().size(); ++i) {
    EXPECT_EQ(dtypes()[i].format, i < Formats::kCount ? int32_t(i) : -1) << dtypes()[i].name;
  }
  EXPECT_EQ(dtypes()[Formats::index_of<Q8_0>()].name, "Q8_0");
}

TEST(Catalog, NamesAndNumbersAreUnique) {
  std::map<std::string_view, int> names;
  std::map<int32_t, int> numbers;
  for (const Dtype& dtype : dtypes()) {
    EXPECT_EQ(++names[dtype.name], 1) << dtype.name;
    if (dtype.ggml_type >= 0) {
      EXPECT_EQ(++numbers[dtype.ggml_type], 1) << dtype.name;
    }
    EXPECT_EQ(dtype_by_name(dtype.name), &dtype);
    if (dtype.ggml_type >= 0) {
      EXPECT_EQ(dtype_by_ggml_type(uint32_t(dtype.ggml_type)), &dtype);
    }
  }
}

TEST(Catalog, RemovedAndUnknownTypesAreNull) {
  for (uint32_t type : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u, 44u, 0x7fffffffu, 0xffffffffu}) {
    EXPECT_EQ(dtype_by_ggml_type(type), nullptr) << type;
  }
  EXPECT_EQ(dtype_by_name("Q4_2"), nullptr);
  EXPECT_EQ(dtype_by_name(""), nullptr);
}

}  // namespace
}  // namespace id2vec

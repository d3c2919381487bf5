// Conversion while streaming: every layout, cut into chunks of every size, against a walk over the elements.
#include "model/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace id2vec {
namespace {

struct Stored {
  StridedLayout layout;
  std::vector<uint8_t> bytes;     // as in the file; gaps hold 0xee
  std::vector<uint8_t> expected;  // the table
};

Stored stored(StridedLayout layout) {
  const size_t size = layout.element_bytes;
  const uint64_t last = (layout.rows - 1) * layout.row_stride + (layout.cols - 1) * layout.col_stride;
  Stored made{layout, std::vector<uint8_t>((last + 1) * size, 0xee),
              std::vector<uint8_t>(layout.rows * layout.cols * size)};
  for (uint64_t r = 0; r < layout.rows; ++r) {
    for (uint64_t c = 0; c < layout.cols; ++c) {
      for (size_t b = 0; b < size; ++b) {
        const auto value = static_cast<uint8_t>(1 + (r * layout.cols + c) * size + b);
        made.expected[(r * layout.cols + c) * size + b] = value;
        const size_t place = layout.swap_bytes ? size - 1 - b : b;
        made.bytes[(r * layout.row_stride + c * layout.col_stride) * size + place] = value;
      }
    }
  }
  return made;
}

std::vector<Stored> all_layouts() {
  std::vector<Stored> all;
  for (const uint32_t element : {1u, 2u, 4u, 8u}) {
    for (const bool swap : {false, true}) {
      const auto add = [&](uint64_t rows, uint64_t cols, uint64_t row_stride, uint64_t col_stride) {
        all.push_back(stored({rows, cols, row_stride, col_stride, element, swap}));
      };
      add(5, 3, 3, 1);   // as it is
      add(5, 3, 1, 5);   // transposed, Fortran order
      add(5, 3, 7, 2);   // gaps between rows and between columns
      add(5, 3, 2, 11);  // the same, transposed
      add(1, 3, 3, 1);
      add(5, 1, 1, 1);
      add(5, 1, 4, 1);
    }
  }
  return all;
}

TEST(Convert, PutsEveryElementInItsPlaceHoweverTheChunksAreCut) {
  for (const Stored& given : all_layouts()) {
    ASSERT_TRUE(given.layout.nests());
    for (size_t piece = 1; piece <= given.bytes.size(); ++piece) {
      std::vector<uint8_t> table(given.expected.size() + 1);
      table.back() = 0x5a;  // the sentinel
      for (size_t at = 0; at < given.bytes.size(); at += piece) {
        const Bytes chunk = Bytes(given.bytes).subspan(at, std::min(piece, given.bytes.size() - at));
        scatter(given.layout, at, chunk, table.data());
      }
      EXPECT_EQ(table.back(), 0x5a);
      table.pop_back();
      ASSERT_EQ(table, given.expected) << "pieces of " << piece;
    }
  }
}

TEST(Convert, ComparesWithoutWriting) {
  for (const Stored& given : all_layouts()) {
    for (const size_t start : {size_t{0}, size_t{1}, given.bytes.size() / 2}) {
      EXPECT_TRUE(
          already_there(given.layout, start, Bytes(given.bytes).subspan(start), given.expected.data()));
    }
    for (size_t i = 0; i < given.expected.size(); ++i) {
      std::vector<uint8_t> other = given.expected;
      other[i] ^= 1;
      EXPECT_FALSE(already_there(given.layout, 0, given.bytes, other.data())) << i;
    }
  }
}

TEST(Convert, PassesOverWhatLiesBehindTheLastElement) {
  const Stored given = stored({3, 2, 2, 1, 4, false});
  std::vector<uint8_t> bytes = given.bytes, table = given.expected;
  bytes.resize(bytes.size() + 100);
  scatter(given.layout, 0, bytes, table.data());
  EXPECT_EQ(table, given.expected);
  scatter(given.layout, uint64_t{1} << 60, bytes, table.data());
  EXPECT_EQ(table, given.expected);
}

TEST(Convert, KnowsWhichLayoutsNest) {
  const auto nests = [](uint64_t rows, uint64_t cols, uint64_t row_stride, uint64_t col_stride) {
    return StridedLayout{rows, cols, row_stride, col_stride, 4, false}.nests();
  };
  EXPECT_TRUE(nests(4, 3, 3, 1));
  EXPECT_FALSE(nests(4, 3, 2, 1));
  EXPECT_FALSE(nests(3, 2, 2, 3));
  EXPECT_FALSE(nests(4, 3, 0, 1));
  EXPECT_TRUE(nests(1, 3, 1, 1));
}

// Five rows of three nibbles, 0 1 2 | 3 4 5 | … : seven and a half bytes in the file, two bytes per row in the plane.
TEST(Convert, SpreadsRowsThatShareBytesHoweverTheChunksAreCut) {
  const PackedRows packed{5, 3, 4};
  const std::vector<uint8_t> stored{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0x0e};
  const std::vector<uint8_t> expected{0x10, 0x02, 0x43, 0x05, 0x76, 0x08, 0xa9, 0x0b, 0xdc, 0x0e, 0x5a};
  for (size_t piece = 1; piece <= stored.size(); ++piece) {
    std::vector<uint8_t> plane(11);
    plane.back() = 0x5a;  // the sentinel
    for (size_t at = 0; at < stored.size(); at += piece) {
      spread(packed, at, Bytes(stored).subspan(at, std::min(piece, stored.size() - at)), plane.data());
    }
    EXPECT_EQ(plane, expected) << piece;
    EXPECT_TRUE(already_spread(packed, 0, stored, plane.data()));
    EXPECT_TRUE(already_spread(packed, 3, Bytes(stored).subspan(3, 2), plane.data()));
    plane[4] ^= 0x10;
    EXPECT_FALSE(already_spread(packed, 0, stored, plane.data()));
  }
}

TEST(Convert, SpreadsRowsOfTwoBits) {
  std::vector<uint8_t> plane(4);
  const std::vector<uint8_t> stored{0b11'10'01'00, 0b00'11'10'01, 0b10'01};  // 0 1 2 3 1 | 2 3 0 1 2
  spread({2, 5, 2}, 0, stored, plane.data());
  EXPECT_EQ(plane, (std::vector<uint8_t>{0b11'10'01'00, 0b01, 0b01'00'11'10, 0b10}));
}

}  // namespace
}  // namespace id2vec

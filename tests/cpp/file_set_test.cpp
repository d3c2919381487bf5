// File ranges: what is wanted, how pieces join, and that sizes are believed before lengths.
#include "containers/file_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "containers/limits.h"

namespace id2vec {
namespace {

void feed(FileSet& files, std::string_view file, uint64_t offset, Bytes bytes) {
  Result<MutableBytes> room = files.feed(file, offset, bytes.size());
  ASSERT_TRUE(room.ok()) << room.status().message();
  std::ranges::copy(bytes, room.value().begin());
}

std::vector<uint8_t> counting(size_t n) {
  std::vector<uint8_t> bytes(n);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return bytes;
}

TEST(FileSet, WantsTheSizeFirstAndThenTheBytesThatAreMissing) {
  FileSet files("a.bin");
  EXPECT_EQ(files.read("a.bin", 10, 20).status().code(), Code::kNeedBytes);
  EXPECT_EQ(files.want().file, "a.bin");
  EXPECT_EQ(files.want().length, 0u);
  EXPECT_FALSE(files.want().optional);
  files.set_size("a.bin", 100);
  EXPECT_EQ(files.read("a.bin", 10, 20).status().code(), Code::kNeedBytes);
  EXPECT_EQ(files.want().offset, 10u);
  EXPECT_EQ(files.want().length, 20u);
  EXPECT_EQ(files.want().suggested, 90u);
  const std::vector<uint8_t> bytes = counting(100);
  feed(files, "a.bin", 5, Bytes(bytes).subspan(5, 10));
  EXPECT_EQ(files.read("a.bin", 10, 20).status().code(), Code::kNeedBytes);
  EXPECT_EQ(files.want().offset, 15u);
  EXPECT_EQ(files.want().length, 15u);
  feed(files, "a.bin", 15, Bytes(bytes).subspan(15, 15));
  Result<Bytes> read = files.read("a.bin", 10, 20);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(std::ranges::equal(read.value(), Bytes(bytes).subspan(10, 20)));
  EXPECT_EQ(files.held(), 25u);
}

TEST(FileSet, SuggestsAsMuchAgainAsIsThere) {
  FileSet files("a.bin");
  files.set_size("a.bin", uint64_t{1} << 40);
  const uint64_t held = limits::kFirstRequest * 3;
  ASSERT_TRUE(files.feed("a.bin", 0, held).ok());
  EXPECT_EQ(files.read("a.bin", 0, held + 1).status().code(), Code::kNeedBytes);
  EXPECT_EQ(files.want().offset, held);
  EXPECT_EQ(files.want().length, 1u);
  EXPECT_EQ(files.want().suggested, held);
}

TEST(FileSet, ChecksRangesAgainstTheSize) {
  FileSet files("a.bin");
  files.set_size("a.bin", 160);
  const Status status = files.read("a.bin", 100, uint64_t{1} << 30).status();
  EXPECT_EQ(status.code(), Code::kTruncated);
  EXPECT_EQ(status.message(),
            "a.bin: 1073741824 bytes at byte 100 are needed, but the file ends at byte 160");
  EXPECT_EQ(files.read("a.bin", UINT64_MAX, 2).status().code(), Code::kTruncated);
  EXPECT_EQ(files.feed("a.bin", 159, 2).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(files.feed("a.bin", UINT64_MAX, 2).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(files.read("a.bin", 160, 0).ok());
  EXPECT_EQ(files.held(), 0u);
}

TEST(FileSet, RefusesAHeaderBeyondTheLimit) {
  FileSet files("a.bin");
  files.set_size("a.bin", uint64_t{1} << 40);
  EXPECT_EQ(files.read("a.bin", 0, limits::kHeldBytes + 1).status().code(), Code::kLimit);
  EXPECT_EQ(files.feed("a.bin", 0, limits::kHeldBytes + 1).status().code(), Code::kLimit);
}

TEST(FileSet, KnowsMissingFiles) {
  FileSet files("a.bin");
  EXPECT_EQ(files.exists("b").status().code(), Code::kNeedBytes);
  EXPECT_TRUE(files.want().optional);
  files.set_missing("b");
  EXPECT_FALSE(files.exists("b").value());
  EXPECT_EQ(files.size("b").status().message(), "b: there is no such file");
  EXPECT_EQ(files.read("b", 0, 1).status().code(), Code::kNotFound);
}

TEST(FileSet, JoinsPiecesInAnyOrder) {
  const std::vector<uint8_t> bytes = counting(256);
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    FileSet files("a.bin");
    files.set_size("a.bin", bytes.size());
    std::vector<bool> there(bytes.size());
    for (int piece = 0; piece < 12; ++piece) {
      const size_t offset = random() % bytes.size();
      const size_t length = std::min<size_t>(random() % 60, bytes.size() - offset);
      feed(files, "a.bin", offset, Bytes(bytes).subspan(offset, length));
      std::fill_n(there.begin() + offset, length, true);
      EXPECT_EQ(files.held(), static_cast<uint64_t>(std::ranges::count(there, true)));
      for (size_t at = 0; at < bytes.size(); ++at) {
        const size_t end = std::find(there.begin() + at, there.end(), false) - there.begin();
        const Bytes available = files.available("a.bin", at);
        ASSERT_EQ(available.size(), end - at);
        ASSERT_TRUE(std::ranges::equal(available, Bytes(bytes).subspan(at, end - at)));
      }
    }
    files.drop_bytes();
    EXPECT_EQ(files.held(), 0u);
    EXPECT_EQ(files.size("a.bin").value(), bytes.size());
  }
}

TEST(FileSet, AcceptsOnlyHarmlessSiblingNames) {
  for (const char* name : {"a", "model-00001-of-00002.safetensors", "onnx/model.onnx_data", "a..b", "…"}) {
    EXPECT_TRUE(is_sibling_name(name)) << name;
  }
  for (const char* name :
       {"", "/etc/passwd", "../x", "a/../b", "..", "https://x/y", "C:x", "a\\b", "a?b", "a#b"}) {
    EXPECT_FALSE(is_sibling_name(name)) << name;
  }
  EXPECT_FALSE(is_sibling_name(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace id2vec

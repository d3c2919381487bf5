#include "containers/zip.h"

#include <gtest/gtest.h>

#include "drive.h"
#include "zip_builder.h"

namespace id2vec {
namespace {

ZipPart stored(std::string name, std::string_view text) {
  ZipPart part;
  part.name = std::move(name);
  part.data = bytes_of(text);
  return part;
}

ZipBuilder two_entries() {
  ZipBuilder zip;
  zip.parts = {stored("a/one", "1234567"), stored("two", "89")};
  return zip;
}

// Reads the directory and then locates every entry.
Result<std::vector<std::string>> contents(const std::vector<uint8_t>& bytes) {
  return drive(
      {{"x.zip", bytes}}, "x.zip",
      [&](FileSet& files) -> Result<std::vector<std::string>> {
        ID2VEC_ASSIGN(const std::vector<ZipEntry> entries, read_zip(files, "x.zip"));
        std::vector<std::string> texts;
        for (const ZipEntry& entry : entries) {
          ID2VEC_ASSIGN(const ZipContent content, zip_content(files, "x.zip", entry));
          if (content.file != "x.zip") {
            texts.push_back(content.file);
            continue;
          }
          texts.emplace_back(bytes.begin() + content.offset, bytes.begin() + content.offset + content.size);
        }
        return texts;
      },
      as_little_as_possible);
}

TEST(Zip, ReadsStoredEntriesInTheOrderOfTheFile) {
  const auto texts = contents(two_entries().build());
  ASSERT_TRUE(texts.ok()) << texts.status().message();
  EXPECT_EQ(texts.value(), (std::vector<std::string>{"1234567", "89"}));
}

TEST(Zip, ReadsZip64Records) {
  ZipBuilder zip = two_entries();
  zip.zip64 = true;
  const auto texts = contents(zip.build());
  ASSERT_TRUE(texts.ok()) << texts.status().message();
  EXPECT_EQ(texts.value(), (std::vector<std::string>{"1234567", "89"}));
}

TEST(Zip, FindsTheEndRecordBeforeAComment) {
  ZipBuilder zip = two_entries();
  zip.comment = std::string(70, 'c') + "PK\x05\x06";
  EXPECT_TRUE(contents(zip.build()).ok());
}

TEST(Zip, NamesDeflatedEntriesAsVirtualFiles) {
  ZipBuilder zip;
  ZipPart part = stored("a.npy", "zz");
  part.method = 8;
  part.size = 100;
  zip.parts = {part};
  const auto texts = contents(zip.build());
  ASSERT_TRUE(texts.ok()) << texts.status().message();
  EXPECT_EQ(texts.value(), (std::vector<std::string>{"x.zip!a.npy"}));
}

struct Lie {
  const char* name;
  void (*tell)(ZipBuilder& zip);
  Code code;
  const char* piece;  // of the sentence
};

const Lie kLies[] = {
    {"parent folder", [](ZipBuilder& z) { z.parts[0].name = "../one"; }, Code::kMalformed,
     "'../one' is not a plain relative path"},
    {"parent folder inside", [](ZipBuilder& z) { z.parts[0].name = "a/../../one"; }, Code::kMalformed,
     "plain relative path"},
    {"absolute", [](ZipBuilder& z) { z.parts[0].name = "/etc/one"; }, Code::kMalformed,
     "plain relative path"},
    {"backslash", [](ZipBuilder& z) { z.parts[0].name = "a\\one"; }, Code::kMalformed, "plain relative path"},
    {"drive", [](ZipBuilder& z) { z.parts[0].name = "C:one"; }, Code::kMalformed, "plain relative path"},
    {"nameless", [](ZipBuilder& z) { z.parts[0].name = ""; }, Code::kMalformed, "plain relative path"},
    {"zero in a name", [](ZipBuilder& z) { z.parts[0].name = std::string("a\0b", 3); }, Code::kMalformed,
     "plain relative path"},
    {"duplicate name", [](ZipBuilder& z) { z.parts[1].name = "a/one"; }, Code::kMalformed,
     "two entries are called 'a/one'"},
    {"encrypted", [](ZipBuilder& z) { z.parts[1].flags = 1; }, Code::kUnsupported,
     "entry 'two' is encrypted"},
    {"encrypted in the local header", [](ZipBuilder& z) { z.parts[1].local_flags = 1; }, Code::kMalformed,
     "disagrees"},
    {"unknown method", [](ZipBuilder& z) { z.parts[1].method = 14; }, Code::kUnsupported,
     "compression method 14"},
    {"two stored sizes", [](ZipBuilder& z) { z.parts[0].size = 6; }, Code::kMalformed,
     "stored but has two sizes, 7 and 6"},
    {"impossible expansion", [](ZipBuilder& z) { z.parts[0].method = 8, z.parts[0].size = 1'000'000; },
     Code::kMalformed, "more than deflate can make"},
    {"other local name", [](ZipBuilder& z) { z.parts[0].local_name = "a/0ne"; }, Code::kMalformed,
     "disagrees"},
    {"other local method", [](ZipBuilder& z) { z.parts[0].local_method = 8; }, Code::kMalformed, "disagrees"},
    {"other local size", [](ZipBuilder& z) { z.parts[0].local_size = 3; }, Code::kMalformed, "disagrees"},
    {"local sizes of 0 without a descriptor",
     [](ZipBuilder& z) { z.parts[0].local_size = z.parts[0].local_compressed = 0; }, Code::kMalformed,
     "disagrees"},
    {"overlap", [](ZipBuilder& z) { z.parts[1].central_offset = 4; }, Code::kMalformed,
     "overlaps what follows it"},
    {"same place", [](ZipBuilder& z) { z.parts[1].central_offset = 0; }, Code::kMalformed, "overlaps"},
    {"offset past the directory", [](ZipBuilder& z) { z.parts[1].central_offset = 5000; }, Code::kMalformed,
     "passes the central directory"},
    {"no header there", [](ZipBuilder& z) { z.parts[1].padding = 8, z.parts[1].central_offset = 45; },
     Code::kMalformed, "no local header at 45"},
    {"more entries than there are", [](ZipBuilder& z) { z.entries = 3; }, Code::kMalformed,
     "claims 3 entries in a central directory of 100 bytes"},
    {"fewer entries than there are", [](ZipBuilder& z) { z.entries = 1; }, Code::kMalformed,
     "more than its 1 entries"},
    {"65,534 entries", [](ZipBuilder& z) { z.entries = 0xFFFE; }, Code::kMalformed, "claims 65534 entries"},
    {"directory past the end", [](ZipBuilder& z) { z.directory_offset = 0x7FFFFFFF; }, Code::kMalformed,
     "passes its end record"},
    {"directory larger than the file", [](ZipBuilder& z) { z.directory_size = 0x7FFFFFFF; }, Code::kMalformed,
     "passes its end record"},
    {"second disk", [](ZipBuilder& z) { z.disk = 1; }, Code::kMalformed, "several disks"},
    {"zip64 record behind its locator", [](ZipBuilder& z) { z.zip64 = true, z.end64_offset = 1ull << 40; },
     Code::kMalformed, "behind its own locator"},
    {"zip64 record elsewhere", [](ZipBuilder& z) { z.zip64 = true, z.end64_offset = 3; }, Code::kMalformed,
     "no zip64 end record at 3"},
};

TEST(Zip, RefusesEveryLie) {
  for (const Lie& lie : kLies) {
    ZipBuilder zip = two_entries();
    lie.tell(zip);
    const auto texts = contents(zip.build());
    ASSERT_FALSE(texts.ok()) << lie.name;
    EXPECT_EQ(texts.status().code(), lie.code) << lie.name << ": " << texts.status().message();
    EXPECT_NE(texts.status().message().find(lie.piece), std::string::npos)
        << lie.name << ": " << texts.status().message();
  }
}

TEST(Zip, RefusesEveryTruncation) {
  const std::vector<uint8_t> whole = two_entries().build();
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto texts = contents({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)});
    ASSERT_FALSE(texts.ok()) << length;
    EXPECT_EQ(texts.status().code(), Code::kTruncated) << length << ": " << texts.status().message();
  }
}

TEST(Zip, AcceptsLocalSizesBehindTheData) {
  ZipBuilder zip = two_entries();
  zip.parts[0].flags = 8;
  zip.parts[0].local_size = zip.parts[0].local_compressed = 0;
  EXPECT_TRUE(contents(zip.build()).ok());
}

}  // namespace
}  // namespace id2vec

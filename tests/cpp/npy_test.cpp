#include "containers/npy.h"

#include <gtest/gtest.h>

#include "drive.h"
#include "zip_builder.h"

namespace id2vec {
namespace {

// An npy file of version 1 with this header and so many bytes of elements.
std::vector<uint8_t> npy(std::string_view header, size_t data, uint8_t major = 1) {
  ByteWriter out;
  out.raw("\x93NUMPY").put(major).put<uint8_t>(0);
  if (major == 1) {
    out.put(static_cast<uint16_t>(header.size()));
  } else {
    out.put(static_cast<uint32_t>(header.size()));
  }
  out.raw(header);
  for (size_t i = 0; i < data; ++i) out.put(static_cast<uint8_t>(i));
  return std::move(out.bytes);
}

std::string header(std::string_view descr, std::string_view order, std::string_view shape) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(order) +
         ", 'shape': " + std::string(shape) + ", }\n";
}

Result<Directory> read(const std::vector<uint8_t>& bytes, std::string name = "table.npy") {
  return drive({{name, bytes}}, name, read_directory, as_little_as_possible);
}

Result<Directory> read_header(std::string_view text, size_t data = 64) { return read(npy(text, data)); }

TEST(Npy, ReadsRowMajorTables) {
  const std::string text = header("<f4", "False", "(4, 3)");
  for (const uint8_t major : {1, 2, 3}) {
    const auto result = read(npy(text, 48, major));
    ASSERT_TRUE(result.ok()) << result.status().message();
    const Tensor& tensor = result.value().tensors.at(0);
    EXPECT_EQ(result.value().container, "npy");
    EXPECT_EQ(tensor.name, "table");
    EXPECT_EQ(tensor.dtype->name, "F32");
    EXPECT_EQ(tensor.shape, (std::vector<uint64_t>{4, 3}));
    EXPECT_EQ(tensor.offset, text.size() + (major == 1 ? 10 : 12));
    EXPECT_EQ(tensor.bytes, 48u);
    EXPECT_TRUE(tensor.strides.empty());
  }
}

TEST(Npy, TurnsFortranOrderIntoStrides) {
  const auto result = read_header(header("<f2", "True", "(4, 3)"), 24);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors[0].strides, (std::vector<uint64_t>{1, 4}));
  // One dimension is contiguous in both orders.
  EXPECT_TRUE(read_header(header("<f4", "True", "(4,)"), 16).value().tensors[0].strides.empty());
  EXPECT_TRUE(read_header(header("<f4", "True", "(1, 4)"), 16).value().tensors[0].strides.empty());
}

TEST(Npy, KnowsNumericTypesInBothByteOrders) {
  struct Case {
    const char *descr, *name;
    bool big_endian;
  };
  for (const Case& c : {Case{">f4", "F32", true},
                        {"<f8", "F64", false},
                        {"=f2", "F16", false},
                        {"|i1", "I8", false},
                        {">i1", "I8", false},
                        {">i8", "I64", true},
                        {"|u1", "U8", false},
                        {"<u4", "U32", false},
                        {"|b1", "BOOL", false}}) {
    const auto result = read_header(header(c.descr, "False", "(2, 2)"));
    ASSERT_TRUE(result.ok()) << c.descr << ": " << result.status().message();
    EXPECT_EQ(result.value().tensors[0].dtype->name, c.name) << c.descr;
    EXPECT_EQ(result.value().tensors[0].big_endian, c.big_endian) << c.descr;
  }
}

TEST(Npy, ReadsWhatPythonMayWrite) {
  for (const char* text : {"{'shape': (2, 2), 'fortran_order': False, 'descr': '<f4'}",
                           "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2L, 2L)}      \n",
                           "{'descr':'<f4','fortran_order':False,'shape':()}"}) {
    const auto result = read_header(text);
    EXPECT_TRUE(result.ok()) << text << ": " << result.status().message();
  }
}

struct Broken {
  std::string_view header;
  Code code;
  const char* piece;
};

const Broken kBroken[] = {
    {"", Code::kMalformed, "does not start with '{'"},
    {"{}", Code::kMalformed, "lacks one of"},
    {"{'descr': '<f4', 'fortran_order': False}", Code::kMalformed, "lacks one of"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", Code::kMalformed,
     "a key twice"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", Code::kMalformed, "unknown key 'x'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)", Code::kMalformed, "closing '}'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}x", Code::kMalformed, "goes on after"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2)}", Code::kMalformed, "no bool"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 4}", Code::kMalformed, "no tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4)}", Code::kMalformed, "no tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2}", Code::kMalformed, "no tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2)}", Code::kMalformed, "no number"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}", Code::kMalformed, "no tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os').system('true'),)}",
     Code::kMalformed, "no number"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999999999,)}", Code::kMalformed,
     "more than 18 digits"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999999999, 999999999999999999)}",
     Code::kMalformed, "64 bits"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", Code::kLimit,
     "more than 8 dimensions"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 5)}", Code::kTruncated, "needs 80 bytes, but 64"},
    {"{'descr': '<f4, 'fortran_order': False, 'shape': (2, 2)}", Code::kMalformed, "closing '}'"},
    {"{'descr': '<\\x66\\x34', 'fortran_order': False, 'shape': (2, 2)}", Code::kMalformed, "escape"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", Code::kUnsupported, "Python objects"},
    {"{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': (2,)}", Code::kUnsupported,
     "structured"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", Code::kUnsupported, "dtype '<c8'"},
    {"{'descr': '<U5', 'fortran_order': False, 'shape': (2,)}", Code::kUnsupported, "dtype '<U5'"},
    {"{'descr': 'f4', 'fortran_order': False, 'shape': (2,)}", Code::kUnsupported, "dtype 'f4'"},
    {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", Code::kUnsupported, "dtype ''"},
};

TEST(Npy, RefusesBrokenHeaders) {
  for (const Broken& broken : kBroken) {
    const auto result = read_header(broken.header);
    ASSERT_FALSE(result.ok()) << broken.header;
    EXPECT_EQ(result.status().code(), broken.code) << broken.header << ": " << result.status().message();
    EXPECT_NE(result.status().message().find(broken.piece), std::string::npos)
        << broken.header << ": " << result.status().message();
  }
}

TEST(Npy, RefusesOtherVersionsAndLengths) {
  const std::string text = header("<f4", "False", "(1,)");
  EXPECT_EQ(read(npy(text, 4, 4)).status().code(), Code::kUnsupported);
  std::vector<uint8_t> minor = npy(text, 4);
  minor[7] = 1;
  EXPECT_EQ(read(minor).status().code(), Code::kUnsupported);
  std::vector<uint8_t> huge = npy(text, 4, 2);
  huge[11] = 0xFF;
  EXPECT_EQ(read(huge).status().code(), Code::kTruncated);
}

TEST(Npy, RefusesEveryTruncation) {
  const std::vector<uint8_t> whole = npy(header("<f4", "False", "(1, 2)"), 8);
  for (size_t length = 6; length < whole.size(); ++length) {
    EXPECT_EQ(read({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)}).status().code(),
              Code::kTruncated)
        << length;
  }
}

ZipPart entry(std::string name, std::vector<uint8_t> data) {
  ZipPart part;
  part.name = std::move(name);
  part.data = std::move(data);
  return part;
}

TEST(Npz, NamesArraysAfterTheirEntries) {
  ZipBuilder zip;
  zip.parts = {entry("vectors.npy", npy(header("<f4", "False", "(2, 2)"), 16)),
               entry("words.npy", npy(header("|O", "False", "(2,)"), 40)),
               entry("readme.txt", bytes_of("hello"))};
  const auto result = read(zip.build(), "v.npz");
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().container, "npz");
  ASSERT_EQ(result.value().tensors.size(), 1u);
  EXPECT_EQ(result.value().tensors[0].name, "vectors");
  ASSERT_EQ(result.value().skipped.size(), 2u);
  EXPECT_NE(result.value().skipped[0].find("words.npy: arrays of Python objects"), std::string::npos);
}

TEST(Npz, ReadsDeflatedHeadersFromVirtualFiles) {
  // A deflate stream of one stored block holds the file as it is.
  const std::vector<uint8_t> file = npy(header("<f4", "False", "(2, 2)"), 16);
  ByteWriter stream;
  stream.put<uint8_t>(1)
      .put(static_cast<uint16_t>(file.size()))
      .put(static_cast<uint16_t>(~file.size()))
      .raw(Bytes(file));
  ZipPart part = entry("a.npy", stream.bytes);
  part.method = 8;
  part.size = static_cast<uint32_t>(file.size());
  ZipBuilder zip;
  zip.parts = {part};
  const std::vector<uint8_t> archive = zip.build();
  FileSet files("v.npz");
  Result<Directory> result = read_directory(files);
  while (result.status().code() == Code::kNeedBytes) {
    const Want want = files.want();
    const DeflatedRange* range = files.deflated(want.file);
    EXPECT_TRUE(range == nullptr || (range->archive == "v.npz" && range->bytes == stream.bytes.size() &&
                                     range->inflated == file.size()));
    const std::vector<uint8_t>& source = range == nullptr ? archive : file;
    if (want.length == 0) {
      files.set_size(want.file, source.size());
    } else {
      const MutableBytes room = files.feed(want.file, want.offset, want.length).value();
      std::copy_n(source.begin() + static_cast<ptrdiff_t>(want.offset), want.length, room.begin());
    }
    result = read_directory(files);
  }
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Tensor& tensor = result.value().tensors.at(0);
  EXPECT_EQ(result.value().files.at(tensor.file), "v.npz!a.npy");
  EXPECT_EQ(tensor.offset + tensor.bytes, file.size());
}

TEST(Npz, RefusesArchivesWithoutArrays) {
  ZipBuilder zip;
  zip.parts = {entry("a.npy", npy(header("|O", "False", "(2,)"), 40))};
  const auto result = read(zip.build(), "v.npz");
  EXPECT_EQ(result.status().code(), Code::kUnsupported);
  EXPECT_NE(result.status().message().find("a.npy: arrays of Python objects"), std::string::npos)
      << result.status().message();
}

}  // namespace
}  // namespace id2vec

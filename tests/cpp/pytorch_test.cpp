#include "containers/pytorch.h"

#include <gtest/gtest.h>

#include "drive.h"
#include "pickle_builder.h"
#include "support/memory_files.h"

namespace id2vec {
namespace {

std::vector<uint8_t> counted_bytes(size_t n) {
  std::vector<uint8_t> bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}

Result<Directory> read(const std::vector<uint8_t>& bytes, Appetite appetite = as_little_as_possible) {
  return drive({{"m.pt", bytes}}, "m.pt", read_directory, appetite);
}

Result<Directory> read_pickle_of(std::vector<uint8_t> pickle) {
  return read(torch_zip(std::move(pickle), {{"0", counted_bytes(48)}}).build());
}

// One tensor over a storage of 12 floats.
Result<Directory> read_view(int64_t offset, const std::vector<int64_t>& shape,
                            const std::vector<int64_t>& strides, int64_t count = 12) {
  PickleBuilder pickle;
  pickle.op("}").text("w").tensor("FloatStorage", "0", count, offset, shape, strides).op("s");
  return read_pickle_of(pickle.stop());
}

void expect_failure(const Result<Directory>& result, Code code, std::string_view piece) {
  ASSERT_FALSE(result.ok()) << piece;
  EXPECT_EQ(result.status().code(), code) << result.status().message();
  EXPECT_NE(result.status().message().find(piece), std::string::npos) << result.status().message();
}

TEST(PyTorch, ReadsContiguousViews) {
  const auto result = read_view(3, {3, 2}, {2, 1});
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Tensor& tensor = result.value().tensors.at(0);
  EXPECT_EQ(result.value().container, "PyTorch");
  EXPECT_EQ(tensor.name, "w");
  EXPECT_EQ(tensor.dtype->name, "F32");
  EXPECT_EQ(tensor.shape, (std::vector<uint64_t>{3, 2}));
  EXPECT_TRUE(tensor.strides.empty());
  EXPECT_EQ(tensor.bytes, 24u);
  // torch_zip aligns the storage to 64 bytes; the view starts three floats into it.
  EXPECT_EQ(tensor.offset % 64, 12u);
  EXPECT_FALSE(tensor.big_endian);
}

TEST(PyTorch, ReadsTransposedViews) {
  const auto result = read_view(0, {2, 6}, {1, 2});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors[0].strides, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(result.value().tensors[0].bytes, 48u);
}

TEST(PyTorch, ReadsEveryOtherColumn) {
  const auto result = read_view(1, {3, 2}, {4, 2});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors[0].bytes, (2 * 4 + 1 * 2 + 1) * 4u);
}

TEST(PyTorch, IgnoresStridesOfSingleRows) {
  const auto result = read_view(0, {1, 12}, {7, 1});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result.value().tensors[0].strides.empty());
}

TEST(PyTorch, RefusesViewsThatLeaveTheirStorage) {
  expect_failure(read_view(0, {13}, {1}), Code::kMalformed, "has only 48 bytes");
  expect_failure(read_view(12, {1}, {1}), Code::kMalformed, "12 elements into storage '0'");
  expect_failure(read_view(0, {2, 2}, {12, 1}), Code::kMalformed, "has only 48 bytes");
  expect_failure(read_view(INT64_MAX, {1}, {1}), Code::kMalformed, "into storage '0'");
  expect_failure(read_view(0, {INT64_MAX, INT64_MAX}, {1, 1}), Code::kMalformed, "64 bits");
  expect_failure(read_view(0, {2, 3}, {INT64_MAX, 1}), Code::kMalformed, "64 bits");
}

TEST(PyTorch, RefusesNumbersThatAreNone) {
  expect_failure(read_view(-1, {3}, {1}), Code::kMalformed, "arguments of other kinds");
  expect_failure(read_view(0, {-3}, {1}), Code::kMalformed, "arguments of other kinds");
  expect_failure(read_view(0, {3}, {-1}), Code::kMalformed, "arguments of other kinds");
  expect_failure(read_view(0, {3, 2}, {1}), Code::kMalformed, "2 dimensions and 1 strides");
  expect_failure(read_view(0, {3}, {1}, 13), Code::kMalformed, "too few for 13 elements");
  expect_failure(read_view(0, {3}, {1}, INT64_MAX), Code::kMalformed, "too few for");
}

TEST(PyTorch, RefusesExpandedViews) {
  expect_failure(read_view(0, {1000000, 12}, {0, 1}), Code::kUnsupported, "expanded or overlapping view");
  expect_failure(read_view(0, {6, 6}, {1, 1}), Code::kUnsupported, "expanded or overlapping view");
}

TEST(PyTorch, ReadsEmptyTensors) {
  const auto result = read_view(12, {0, 5}, {5, 1});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors[0].bytes, 0u);
}

TEST(PyTorch, GivesTiedTensorsTheSameRange) {
  PickleBuilder pickle;
  pickle.op("}(").text("a").tensor("FloatStorage", "0", 12, 0, {6, 2}, {2, 1});
  pickle.text("b").tensor("FloatStorage", "0", 12, 0, {6, 2}, {2, 1}).op("u");
  const auto result = read_pickle_of(pickle.stop());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors[0].offset, result.value().tensors[1].offset);
}

TEST(PyTorch, JoinsKeysOfNestedDictionaries) {
  PickleBuilder pickle;
  pickle.op("}").text("state_dict").global("collections", "OrderedDict").op(")R(").text("wte.weight");
  pickle.tensor("FloatStorage", "0", 12, 0, {12}, {1}).op("u").op("s");
  pickle.text("epoch").number(3).op("s");
  pickle.text("list").op("](").tensor("FloatStorage", "0", 12, 0, {3}, {1}).op("es");
  const auto result = read_pickle_of(pickle.stop());
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result.value().tensors.size(), 2u);
  EXPECT_EQ(result.value().tensors[0].name, "state_dict.wte.weight");
  EXPECT_EQ(result.value().tensors[1].name, "list.0");
}

TEST(PyTorch, UnwrapsParameters) {
  PickleBuilder pickle;
  pickle.op("}").text("p").global("torch._utils", "_rebuild_parameter").op("(");
  pickle.tensor("HalfStorage", "0", 24, 0, {4, 6}, {6, 1})
      .op("\x88")
      .global("collections", "OrderedDict")
      .op(")RtRs");
  const auto result = read_pickle_of(pickle.stop());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors.at(0).name, "p");
  EXPECT_EQ(result.value().tensors[0].dtype->name, "F16");
}

TEST(PyTorch, ReadsDtypesOfUntypedStorages) {
  PickleBuilder pickle;
  pickle.op("}").text("e").global("torch._utils", "_rebuild_tensor_v3").op("((").text("storage");
  pickle.global("torch.storage", "UntypedStorage").text("0").text("cpu").number(48).op("tQ").number(2);
  pickle.numbers({4, 5}).numbers({5, 1}).op("\x89").global("collections", "OrderedDict").op(")R");
  pickle.global("torch", "float8_e4m3fn").op("tRs");
  const auto result = read_pickle_of(pickle.stop());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors.at(0).dtype->name, "F8_E4M3");
  EXPECT_EQ(result.value().tensors[0].offset % 64, 2u);
}

TEST(PyTorch, MarksBigEndianArchives) {
  PickleBuilder pickle;
  pickle.op("}").text("w").tensor("FloatStorage", "0", 12, 0, {12}, {1}).op("s");
  const std::vector<uint8_t> object = pickle.stop();
  const auto zip = read(torch_zip(object, {{"0", counted_bytes(48)}}, "big").build());
  ASSERT_TRUE(zip.ok()) << zip.status().message();
  EXPECT_TRUE(zip.value().tensors[0].big_endian);
  const auto legacy = read(torch_legacy(object, {{"0", counted_bytes(48)}}, {12}, false));
  ASSERT_TRUE(legacy.ok()) << legacy.status().message();
  EXPECT_TRUE(legacy.value().tensors[0].big_endian);
  expect_failure(read(torch_zip(object, {{"0", counted_bytes(48)}}, "mixed").build()), Code::kMalformed,
                 "'mixed'");
}

TEST(PyTorch, FindsStoragesOfTheLegacyContainer) {
  PickleBuilder pickle;
  pickle.op("}(").text("a").tensor("FloatStorage", "11", 3, 1, {2}, {1});
  pickle.text("b").tensor("ByteStorage", "22", 5, 0, {5}, {1}).op("u");
  const std::vector<uint8_t> bytes =
      torch_legacy(pickle.stop(), {{"22", counted_bytes(5)}, {"11", counted_bytes(12)}}, {5, 3});
  const auto result = read(bytes);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Tensor &a = result.value().tensors[0], &b = result.value().tensors[1];
  EXPECT_EQ(bytes[a.offset], 4);
  EXPECT_EQ(bytes[b.offset + 4], 4);
  EXPECT_EQ(a.offset + a.bytes, bytes.size());
}

// What Python's pickler writes for torch.save(…, pickle_protocol=1): no header, the magic as text, truth values as "I01".
TEST(PyTorch, ReadsALegacyFileOfProtocolOne) {
  ByteWriter file;
  file.raw("L119547037146038801333356L\n.").raw(std::string_view("M\xE9\x03.", 4));
  file.raw("}q\x01X").put<uint32_t>(13).raw("little_endianI01\ns.");
  file.raw("}q\x01X")
      .put<uint32_t>(1)
      .raw("wctorch._utils\n_rebuild_tensor_v2\n((X")
      .put<uint32_t>(7)
      .raw("storage");
  file.raw("ctorch\nFloatStorage\nX").put<uint32_t>(1).raw("9X").put<uint32_t>(3).raw("cpuK\x06tQ");
  file.raw(std::string_view("K\x02", 2))
      .raw("(K\x02K\x02t(K\x02K\x01tI00\nccollections\nOrderedDict\n)RtRs.");
  file.raw("]q\x01X").put<uint32_t>(1).raw("9a.").put<uint64_t>(6).raw(Bytes(counted_bytes(24)));
  const auto result = read(file.bytes);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().container, "PyTorch");
  const Tensor& tensor = result.value().tensors.at(0);
  EXPECT_EQ(tensor.name, "w");
  EXPECT_EQ(tensor.shape, (std::vector<uint64_t>{2, 2}));
  EXPECT_EQ(file.bytes.at(tensor.offset), 8);
  for (size_t length = 30; length < file.bytes.size(); ++length) {
    const auto cut = read({file.bytes.begin(), file.bytes.begin() + static_cast<ptrdiff_t>(length)});
    EXPECT_EQ(cut.status().code(), Code::kTruncated) << length << ": " << cut.status().message();
  }
}

TEST(PyTorch, NamesProtocolZero) {
  std::vector<uint8_t> file =
      bytes_of("L119547037146038801333356L\n.I1001\n.(dp0\nVprotocol_version\np1\nI1001\ns.");
  expect_failure(read(file), Code::kUnsupported, "is written in protocol 0");
}

TEST(PyTorch, RefusesALegacyFileWhoseStoragesDoNotFit) {
  PickleBuilder pickle;
  pickle.op("}").text("a").tensor("FloatStorage", "1", 3, 0, {3}, {1}).op("s");
  const std::vector<uint8_t> object = pickle.stop();
  expect_failure(read(torch_legacy(object, {{"1", counted_bytes(11)}}, {3})), Code::kTruncated,
                 "passes the end of the file");
  expect_failure(read(torch_legacy(object, {{"1", counted_bytes(13)}}, {3})), Code::kMalformed,
                 "its storages end at byte");
  expect_failure(read(torch_legacy(object, {}, {})), Code::kMalformed,
                 "storage '1' is not in the file's list");
  expect_failure(read(torch_legacy(object, {{"2", counted_bytes(12)}}, {3})), Code::kMalformed,
                 "names '2' which no tensor uses");
  expect_failure(read(torch_legacy(object, {{"1", counted_bytes(12)}, {"1", counted_bytes(12)}}, {3, 3})),
                 Code::kMalformed, "twice");
}

TEST(PyTorch, RefusesEveryOtherGlobalByName) {
  const std::pair<const char*, const char*> globals[] = {{"os", "system"},
                                                         {"posix", "system"},
                                                         {"builtins", "eval"},
                                                         {"__builtin__", "exec"},
                                                         {"builtins", "getattr"},
                                                         {"subprocess", "Popen"},
                                                         {"torch", "load"},
                                                         {"torch.hub", "load"},
                                                         {"torch._utils", "_rebuild_qtensor"},
                                                         {"collections", "namedtuple"},
                                                         {"torch", "Storage"},
                                                         {"torch", "FloatStorage.__reduce__"},
                                                         {"torch.nn", "Module"},
                                                         {"numpy", "load"},
                                                         {"", ""}};
  for (const auto& [module, name] : globals) {
    PickleBuilder pickle;
    pickle.op("}").text("x").global(module, name).op("(").text("true").op("tRs");
    expect_failure(read_pickle_of(pickle.stop()), Code::kUnsupported,
                   std::string("asks for '") + module + "." + name + "'");
  }
}

TEST(PyTorch, RefusesGlobalsThatAreNamedByTheStack) {
  PickleBuilder pickle;
  pickle.text("os").text("system").op("\x93").text("true").op("\x85R");
  expect_failure(read_pickle_of(pickle.stop()), Code::kUnsupported, "'os.system'");
}

TEST(PyTorch, SkipsTypesThatItHasNot) {
  PickleBuilder pickle;
  pickle.op("}(").text("c").tensor("ComplexFloatStorage", "0", 6, 0, {6}, {1});
  pickle.text("w").tensor("FloatStorage", "0", 12, 0, {12}, {1}).op("u");
  const auto result = read_pickle_of(pickle.stop());
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result.value().tensors.size(), 1u);
  ASSERT_EQ(result.value().skipped.size(), 1u);
  EXPECT_NE(result.value().skipped[0].find("'c' is of the type complex64"), std::string::npos);
}

TEST(PyTorch, RefusesArchivesThatLackAStorage) {
  PickleBuilder pickle;
  pickle.op("}").text("w").tensor("FloatStorage", "7", 12, 0, {12}, {1}).op("s");
  expect_failure(read_pickle_of(pickle.stop()), Code::kMalformed, "no entry 'archive/data/7'");
}

TEST(PyTorch, RefusesTwoTensorsOfOneName) {
  PickleBuilder pickle;
  pickle.op("}(").text("a").op("}").text("b").tensor("FloatStorage", "0", 12, 0, {12}, {1}).op("s");
  pickle.text("a.b").tensor("FloatStorage", "0", 12, 0, {12}, {1}).op("u");
  expect_failure(read_pickle_of(pickle.stop()), Code::kMalformed, "two tensors are called 'a.b'");
}

TEST(PyTorch, SaysWhatAZipWithoutAPickleIs) {
  ZipBuilder zip;
  ZipPart part;
  part.name = "model.gguf";
  part.data = bytes_of("GGUF");
  zip.parts = {part};
  expect_failure(read(zip.build()), Code::kUnsupported, "no data.pkl");
}

TEST(PyTorch, RefusesEveryTruncation) {
  PickleBuilder pickle;
  pickle.op("}").text("w").tensor("FloatStorage", "0", 12, 0, {12}, {1}).op("s");
  const std::vector<uint8_t> object = pickle.stop();
  for (const auto& whole : {torch_zip(object, {{"0", counted_bytes(48)}}).build(),
                            torch_legacy(object, {{"0", counted_bytes(48)}}, {12})}) {
    for (size_t length = 20; length < whole.size(); ++length) {
      const auto result = read({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)}, as_suggested);
      ASSERT_FALSE(result.ok()) << length << " of " << whole.size();
      EXPECT_EQ(result.status().code(), Code::kTruncated) << length << ": " << result.status().message();
    }
  }
}

// Somebody packed the archive anew, compressed: its entries become virtual files.
TEST(PyTorch, ReadsRepackedArchives) {
  PickleBuilder pickle;
  pickle.op("}").text("w").tensor("FloatStorage", "0", 12, 3, {3, 2}, {2, 1}).op("s");
  ZipBuilder zip = torch_zip(pickle.stop(), {{"0", counted_bytes(48)}});
  for (ZipPart& part : zip.parts) {
    // A deflate stream of one stored block.
    const auto length = static_cast<uint16_t>(part.data.size());
    ByteWriter stream;
    stream.put<uint8_t>(1).put(length).put(static_cast<uint16_t>(~length)).raw(Bytes(part.data));
    part.size = length;
    part.data = stream.bytes;
    part.method = 8;
  }
  test::MemoryFiles disk("m.pt", zip.build());
  FileSet files("m.pt");
  const Result<Directory> result = disk.run(files, read_directory, true);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Tensor& tensor = result.value().tensors.at(0);
  EXPECT_EQ(result.value().files.at(tensor.file), "m.pt!archive/data/0");
  EXPECT_EQ(tensor.offset, 12u);
  EXPECT_EQ(disk.bytes(files, "m.pt!archive/data/0"), counted_bytes(48));
}

TEST(PyTorch, ReadsShardsByTheirIndex) {
  Files files;
  for (const std::string name : {"a", "b"}) {
    PickleBuilder pickle;
    pickle.op("}").text(name).tensor("FloatStorage", "0", 12, 0, {6, 2}, {2, 1}).op("s");
    files["pytorch_model-" + name + ".bin"] = torch_zip(pickle.stop(), {{"0", counted_bytes(48)}}).build();
  }
  files["pytorch_model.bin.index.json"] =
      bytes_of(R"({"weight_map": {"a": "pytorch_model-a.bin", "b": "pytorch_model-b.bin"}})");
  const auto result = drive(files, "pytorch_model.bin.index.json", read_directory);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().container, "PyTorch");
  ASSERT_EQ(result.value().tensors.size(), 2u);
  EXPECT_NE(result.value().tensors[0].file, result.value().tensors[1].file);
}

// Reading needs the same few ranges of a large archive: its end, its pickle, one local header.
TEST(PyTorch, DoesNotFetchWeights) {
  PickleBuilder pickle;
  pickle.op("}(");
  std::vector<TorchData> storages;
  for (int i = 0; i < 40; ++i) {
    const std::string key = std::to_string(i);
    pickle.text("w" + key).tensor("FloatStorage", key, 100'000, 0, {100, 1000}, {1000, 1});
    storages.push_back({key, std::vector<uint8_t>(400'000)});
  }
  const std::vector<uint8_t> whole = torch_zip(pickle.op("u").stop(), storages).build();
  size_t calls = 0;
  uint64_t fetched = 0;
  const auto result = drive(
      {{"m.pt", whole}}, "m.pt", read_directory,
      [&](const Want& want, uint64_t) { return fetched += want.suggested, want.suggested; }, &calls);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors.size(), 40u);
  EXPECT_LT(calls, 10u);
  EXPECT_LT(fetched, whole.size() / 10);
}

}  // namespace
}  // namespace id2vec

// GGUF headers: what an honest file says, and one sentence for each way a hostile one lies.
#include "containers/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "containers/limits.h"
#include "containers/reader.h"
#include "cpp/corpus.h"
#include "cpp/drive.h"
#include "cpp/gguf_builder.h"

namespace id2vec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Directory> open(const std::vector<uint8_t>& bytes, Appetite appetite = as_suggested) {
  return drive({{"m.gguf", bytes}}, "m.gguf", read_directory, appetite);
}

GgufBuilder small_model() {
  GgufBuilder gguf;
  gguf.text("general.architecture", "llama")
      .u32("llama.vocab_size", 3)
      .texts("tokenizer.ggml.tokens", {"a", "", "ć"});
  gguf.array<float>("tokenizer.ggml.scores", 6, {0, -1, -2.5})
      .array<int32_t>("tokenizer.ggml.token_type", 5, {1, 3, 6});
  gguf.f32("token_embd.weight", 3, 4).f32("output_norm.weight", 1, 4);
  return gguf;
}

void expect_failure(const std::vector<uint8_t>& bytes, Code code, std::string_view sentence) {
  const Result<Directory> directory = open(bytes);
  ASSERT_FALSE(directory.ok()) << sentence;
  EXPECT_EQ(code_name(directory.status().code()), code_name(code)) << directory.status().message();
  EXPECT_THAT(directory.status().message(), HasSubstr(sentence));
  EXPECT_THAT(directory.status().message(), HasSubstr("m.gguf: "));
}

TEST(Gguf, ReadsNamesShapesRangesMetadataAndVocabulary) {
  const std::vector<uint8_t> bytes = small_model().build();
  const Result<Directory> result = open(bytes);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Directory& directory = result.value();
  EXPECT_EQ(directory.container, "GGUF");
  EXPECT_THAT(directory.files, ElementsAre("m.gguf"));
  ASSERT_EQ(directory.tensors.size(), 2u);
  const Tensor& table = directory.tensors[0];
  EXPECT_EQ(table.name, "token_embd.weight");
  EXPECT_EQ(table.dtype->name, "F32");
  EXPECT_THAT(table.shape, ElementsAre(3, 4));
  EXPECT_EQ(table.bytes, 48u);
  EXPECT_EQ(load_le<float>(bytes.data() + table.offset + 44), 11.0f);
  EXPECT_EQ(directory.text("general.architecture", ""), "llama");
  EXPECT_EQ(directory.number("llama.vocab_size", 0), 3);
  ASSERT_EQ(directory.vocabulary.size(), 3u);
  EXPECT_EQ(directory.vocabulary.piece(0), "a");
  EXPECT_EQ(directory.vocabulary.piece(1), "");
  EXPECT_EQ(directory.vocabulary.piece(2), "ć");
  EXPECT_THAT(directory.vocabulary.scores, ElementsAre(0, -1, -2.5));
  EXPECT_THAT(directory.vocabulary.types, ElementsAre(1, 3, 6));
  EXPECT_EQ(std::get<LongArray>(directory.metadata.at("tokenizer.ggml.tokens")).length, 3u);
}

TEST(Gguf, ReadsVersion2AndOtherAlignments) {
  for (const uint64_t alignment : {8u, 64u, 4096u}) {
    GgufBuilder gguf = small_model();
    gguf.version = 2;
    gguf.alignment = alignment;
    gguf.u32("general.alignment", alignment);
    const std::vector<uint8_t> bytes = gguf.build();
    const Result<Directory> directory = open(bytes);
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    EXPECT_EQ(directory.value().tensors[1].offset % alignment, 0u);
    EXPECT_EQ(load_le<float>(bytes.data() + directory.value().tensors[1].offset + 4), 1.0f);
  }
}

TEST(Gguf, ReadsEveryScalarType) {
  GgufBuilder gguf;
  const auto scalar = [&]<class T>(uint32_t type, T value) {
    gguf.raw(std::string("k") + std::to_string(type), type, [&](ByteWriter& w) { w.put(value); });
  };
  scalar(0, uint8_t{200});
  scalar(1, int8_t{-100});
  scalar(2, uint16_t{60000});
  scalar(3, int16_t{-30000});
  scalar(4, uint32_t{4000000000});
  scalar(5, int32_t{-2000000000});
  scalar(6, 1.5f);
  scalar(7, uint8_t{1});
  scalar(10, UINT64_MAX);
  scalar(11, INT64_MIN);
  scalar(12, 0.1);
  gguf.array<uint8_t>("bools", 7, {0, 1}).array<int16_t>("shorts", 3, {-1, 2}).texts("texts", {"x", "y"});
  gguf.array<double>("none", 12, {});
  const Result<Directory> directory = open(gguf.build());
  ASSERT_TRUE(directory.ok()) << directory.status().message();
  const auto& metadata = directory.value().metadata;
  EXPECT_EQ(std::get<uint64_t>(metadata.at("k0")), 200u);
  EXPECT_EQ(std::get<int64_t>(metadata.at("k1")), -100);
  EXPECT_EQ(std::get<uint64_t>(metadata.at("k2")), 60000u);
  EXPECT_EQ(std::get<int64_t>(metadata.at("k3")), -30000);
  EXPECT_EQ(std::get<uint64_t>(metadata.at("k4")), 4000000000u);
  EXPECT_EQ(std::get<int64_t>(metadata.at("k5")), -2000000000);
  EXPECT_EQ(std::get<double>(metadata.at("k6")), 1.5);
  EXPECT_EQ(std::get<bool>(metadata.at("k7")), true);
  EXPECT_EQ(std::get<uint64_t>(metadata.at("k10")), UINT64_MAX);
  EXPECT_EQ(std::get<int64_t>(metadata.at("k11")), INT64_MIN);
  EXPECT_EQ(std::get<double>(metadata.at("k12")), 0.1);
  EXPECT_THAT(std::get<std::vector<double>>(metadata.at("bools")), ElementsAre(0, 1));
  EXPECT_THAT(std::get<std::vector<double>>(metadata.at("shorts")), ElementsAre(-1, 2));
  EXPECT_THAT(std::get<std::vector<std::string>>(metadata.at("texts")), ElementsAre("x", "y"));
  EXPECT_TRUE(std::get<std::vector<double>>(metadata.at("none")).empty());
}

TEST(Gguf, KeepsLongArraysAsTheyAreStored) {
  GgufBuilder gguf;
  gguf.texts("tokenizer.ggml.merges", std::vector<std::string>(1000, "a b"))
      .array<uint32_t>("long", 4, std::vector<uint32_t>(1000));
  gguf.u32("behind", 7);
  const Result<Directory> directory = open(gguf.build());
  ASSERT_TRUE(directory.ok()) << directory.status().message();
  const auto& merges = std::get<LongArray>(directory.value().metadata.at("tokenizer.ggml.merges"));
  EXPECT_EQ(merges.length, 1000u);
  EXPECT_EQ(merges.type, 8u);
  ASSERT_EQ(merges.bytes.size(), 1000u * (8 + 3));
  EXPECT_EQ(std::string(merges.bytes.end() - 11, merges.bytes.end()), std::string("\3\0\0\0\0\0\0\0a b", 11));
  const auto& numbers = std::get<LongArray>(directory.value().metadata.at("long"));
  EXPECT_EQ(numbers.length, 1000u);
  EXPECT_EQ(numbers.type, 4u);
  EXPECT_EQ(numbers.bytes.size(), 4000u);
  EXPECT_EQ(directory.value().number("behind", 0), 7);
}

TEST(Gguf, AVocabularyMayEndBeforeTheDataSection) {
  GgufBuilder gguf;
  gguf.texts("tokenizer.ggml.tokens", {"a", "b"});
  gguf.pad = false;
  const std::vector<uint8_t> bytes = gguf.build();
  ASSERT_NE(bytes.size() % 32, 0u);
  const Result<Directory> directory = open(bytes);
  ASSERT_TRUE(directory.ok()) << directory.status().message();
  EXPECT_EQ(directory.value().vocabulary.size(), 2u);
}

// The driver decides how much it hands over at a time; the result must not depend on it.
TEST(Gguf, ReadsTheSameHoweverItIsFed) {
  GgufBuilder gguf = small_model();
  gguf.texts("tokenizer.ggml.merges", std::vector<std::string>(300, "x y"));
  const std::vector<uint8_t> bytes = gguf.build();
  const auto one_more = [](const Want& want, uint64_t left) {
    return std::min<uint64_t>(want.length + 1, left);
  };
  const auto twice = [](const Want& want, uint64_t left) {
    return std::min(left, std::max(want.length, want.offset));
  };
  const auto one_byte = [](const Want&, uint64_t) { return uint64_t{1}; };
  for (const Appetite& appetite : {Appetite(everything), Appetite(as_little_as_possible), Appetite(one_more),
                                   Appetite(one_byte), Appetite(twice)}) {
    const Result<Directory> directory = open(bytes, appetite);
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    EXPECT_EQ(directory.value().tensors.size(), 2u);
    EXPECT_EQ(directory.value().vocabulary.text, "ać");
    EXPECT_EQ(directory.value().metadata.size(), 6u);
  }
}

TEST(Gguf, TheNumberOfRestartsIsLogarithmic) {
  GgufBuilder gguf;
  gguf.texts("tokenizer.ggml.merges", std::vector<std::string>(400'000, "merge this"));
  size_t calls = 0;
  const std::vector<uint8_t> bytes = gguf.build();
  ASSERT_TRUE(drive({{"m.gguf", bytes}}, "m.gguf", read_directory, as_suggested, &calls).ok());
  EXPECT_GT(bytes.size(), 6u << 20);
  EXPECT_LE(calls, 10u);
}

// Every truncation of an honest file is an error, never a crash and never a success.
TEST(Gguf, RefusesEveryTruncation) {
  std::vector<uint8_t> bytes = small_model().build();
  bytes.resize(bytes.size() - 16);  // the padding behind the last tensor
  ASSERT_TRUE(open(bytes).ok());
  while (!bytes.empty()) {
    bytes.pop_back();
    const Result<Directory> directory = open(bytes);
    ASSERT_FALSE(directory.ok()) << bytes.size();
    const Code code = directory.status().code();
    EXPECT_TRUE(code == Code::kTruncated || (bytes.size() < 4 && code == Code::kUnsupported)) << bytes.size();
  }
}

TEST(Gguf, NamesUnknownVersions) {
  const auto version = [](uint32_t number) {
    GgufBuilder gguf;
    gguf.version = number;
    return gguf.build();
  };
  expect_failure(version(1), Code::kUnsupported, "GGUF version 1 is not read");
  expect_failure(version(4), Code::kUnsupported, "GGUF version 4 is not read");
  expect_failure(version(0), Code::kUnsupported, "GGUF version 0 is not read");
  expect_failure(version(0x03000000), Code::kUnsupported, "big-endian");
}

TEST(Gguf, ComparesCountsWithTheBytesThatAreThere) {
  for (const uint64_t count : {UINT64_MAX, UINT64_MAX / 24, uint64_t{1} << 61, uint64_t{1000}}) {
    GgufBuilder tensors, metadata;
    tensors.tensor_count = count;
    metadata.metadata_count = count;
    expect_failure(tensors.build(), Code::kTruncated, std::to_string(count) + " tensors");
    expect_failure(metadata.build(), Code::kTruncated, std::to_string(count) + " metadata entries");
  }
}

TEST(Gguf, ComparesLengthsWithTheBytesThatAreThere) {
  const auto with = [](uint32_t type, auto write) {
    GgufBuilder gguf;
    gguf.raw("key", type, write);
    std::vector<uint8_t> bytes = gguf.build();
    bytes.resize(160);
    return bytes;
  };
  for (const uint64_t length : {uint64_t{1} << 30, UINT64_MAX, UINT64_MAX - 8}) {
    expect_failure(with(8, [&](ByteWriter& w) { w.put(length); }), Code::kTruncated,
                   "the file ends at byte 160");
    for (const uint32_t element : {0u, 4u, 8u, 12u}) {
      expect_failure(with(9, [&](ByteWriter& w) { w.put(element).put(length); }), Code::kTruncated,
                     "array elements");
    }
  }
  GgufBuilder key;
  key.pad = false;
  key.metadata_count = 1;
  std::vector<uint8_t> bytes = key.build();
  for (int i = 0; i < 8; ++i) bytes.push_back(0xff);  // the length of its key
  bytes.resize(160);
  expect_failure(bytes, Code::kTruncated, "a metadata key");
}

TEST(Gguf, RefusesMetadataThatMakesNoSense) {
  expect_failure(GgufBuilder().u32("a", 1).u32("b", 1).u32("a", 2).build(), Code::kMalformed,
                 "'a' appears twice");
  expect_failure(GgufBuilder().raw("a", 13, [](ByteWriter& w) { w.put(0); }).build(), Code::kMalformed,
                 "value type 13");
  expect_failure(GgufBuilder().raw("a", 7, [](ByteWriter& w) { w.put<uint8_t>(2); }).build(),
                 Code::kMalformed, "bool of value 2");
  expect_failure(GgufBuilder().array<uint64_t>("a", 9, {0}).build(), Code::kUnsupported,
                 "an array of arrays");
  expect_failure(GgufBuilder().array<uint64_t>("a", 99, {0}).build(), Code::kMalformed, "value type 99");
  std::vector<uint8_t> long_key = GgufBuilder().u32(std::string(limits::kNameBytes + 1, 'k'), 1).build();
  expect_failure(long_key, Code::kLimit, "a metadata key of 4097 bytes");
}

TEST(Gguf, RefusesVocabulariesOfAnotherElementType) {
  const std::string tokens = "tokenizer.ggml.tokens", scores = "tokenizer.ggml.scores",
                    types = "tokenizer.ggml.token_type";
  expect_failure(GgufBuilder().array<uint32_t>(tokens, 4, {1, 2}).build(), Code::kMalformed,
                 "value type 4, strings");
  expect_failure(GgufBuilder().texts(tokens, {"a", "b"}).array<uint8_t>(scores, 0, {1, 2}).build(),
                 Code::kMalformed, "value type 0, f32");
  expect_failure(GgufBuilder().texts(tokens, {"a", "b"}).array<int8_t>(types, 1, {1, 2}).build(),
                 Code::kMalformed, "value type 1, i32");
  expect_failure(GgufBuilder().texts(tokens, {"a", "b"}).array<float>(scores, 6, {1}).build(),
                 Code::kMalformed, "has 1 elements for 2 tokens");
  expect_failure(GgufBuilder().array<int32_t>(types, 5, {1}).build(), Code::kMalformed,
                 "has 1 elements for 0 tokens");
}

TEST(Gguf, RefusesAlignmentsThatAreNone) {
  for (const uint32_t alignment : {0u, 1u, 4u, 24u, 33u, 0xffffffffu}) {
    expect_failure(GgufBuilder().u32("general.alignment", alignment).build(), Code::kMalformed,
                   "no power of two");
  }
  expect_failure(GgufBuilder().u32("general.alignment", 1u << 30).build(), Code::kLimit,
                 "1073741824 is more than the limit");
  expect_failure(GgufBuilder().text("general.alignment", "32").build(), Code::kMalformed,
                 "no unsigned integer");
}

TEST(Gguf, RefusesTensorsThatMakeNoSense) {
  const auto with = [](GgufTensor tensor) {
    std::vector<uint8_t> bytes = GgufBuilder().tensor(std::move(tensor)).build();
    bytes.resize(bytes.size() + 256);
    return bytes;
  };
  const uint64_t half = uint64_t{1} << 32;
  expect_failure(with({"t", {half, half}}), Code::kMalformed, "more than 64 bits");
  expect_failure(with({"t", {half, half, half}}), Code::kMalformed, "more than 64 bits");
  expect_failure(with({"t", {uint64_t{1} << 63}}), Code::kMalformed, "more than 64 bits");
  expect_failure(with({"t", {1, 1, 1, 1, 1}}), Code::kMalformed, "5 dimensions");
  expect_failure(with({"t", {1, 1}, 0, {}, {}, 0xffffffff}), Code::kMalformed, "4294967295 dimensions");
  expect_failure(with({"t", {31, 2}, 8}), Code::kMalformed,
                 "rows of 31 weights, but Q8_0 stores blocks of 32");
  expect_failure(with({"t", {4}, 0, {}, 4}), Code::kMalformed, "no multiple of the alignment 32");
  expect_failure(with({"t", {4}, 0, {}, UINT64_MAX - 31}), Code::kTruncated, "the file ends at byte");
  expect_failure(with({"t", {4}, 0, {}, uint64_t{1} << 40}), Code::kTruncated, "the file ends at byte");
  expect_failure(with({"t", {4096}}), Code::kTruncated, "takes 16384 bytes at offset 0");
  expect_failure(with({"t", {4}, 44}), Code::kUnsupported, "tensor 't' has type 44, which is not known");
  expect_failure(with({"t", {4}, 0xffffffff}), Code::kUnsupported, "type 4294967295");
  expect_failure(with({"t", {4}, 31}), Code::kUnsupported, "type 31 (Q4_0_4_4)");
  expect_failure(with({"t", {4}, 5}), Code::kUnsupported, "type 5 (Q4_3)");
  expect_failure(with({std::string(limits::kNameBytes + 1, 'n'), {4}}), Code::kLimit,
                 "a tensor's name of 4097 bytes");
  expect_failure(GgufBuilder().f32("same", 1, 4).f32("same", 1, 4).build(), Code::kMalformed,
                 "two tensors are called 'same'");
}

TEST(Gguf, AcceptsTensorsWithoutElementsOrDimensions) {
  std::vector<uint8_t> bytes =
      GgufBuilder().tensor({"none", {0, 7}}).tensor({"scalar", {}, 0, {0, 0, 0x80, 0x3f}}).build();
  const Result<Directory> directory = open(bytes);
  ASSERT_TRUE(directory.ok()) << directory.status().message();
  EXPECT_EQ(directory.value().tensors[0].bytes, 0u);
  EXPECT_EQ(directory.value().tensors[1].bytes, 4u);
}

// Splits -----------------------------------------------------------------------------------------------------

GgufBuilder shard(uint16_t number, uint16_t count, uint32_t tensors) {
  GgufBuilder gguf;
  gguf.u16("split.no", number).u16("split.count", count).u32("split.tensors.count", tensors);
  return gguf;
}

Files three_shards() {
  return {
      {"m-00001-of-00003.gguf", shard(0, 3, 3).text("general.architecture", "llama").f32("a", 2, 4).build()},
      {"m-00002-of-00003.gguf", shard(1, 3, 3).f32("b", 2, 4).build()},
      {"m-00003-of-00003.gguf", shard(2, 3, 3).f32("c", 2, 4).build()}};
}

TEST(GgufSplit, IsOneModelWhicheverShardIsGiven) {
  const Files files = three_shards();
  for (const auto& [root, bytes] : files) {
    const Result<Directory> directory = drive(files, root, read_directory);
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    EXPECT_EQ(directory.value().text("general.architecture", ""), "llama");
    EXPECT_THAT(directory.value().files,
                ElementsAre("m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"));
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(directory.value().tensors[i].name, std::string(1, static_cast<char>('a' + i)));
      EXPECT_EQ(directory.value().tensors[i].file, i);
    }
  }
}

void expect_split_failure(const Files& files, Code code, std::string_view sentence) {
  const Result<Directory> directory = drive(files, files.begin()->first, read_directory);
  ASSERT_FALSE(directory.ok()) << sentence;
  EXPECT_EQ(code_name(directory.status().code()), code_name(code));
  EXPECT_THAT(directory.status().message(), HasSubstr(sentence));
}

TEST(GgufSplit, RefusesShardsThatDoNotFitTogether) {
  Files missing = three_shards();
  missing.erase("m-00002-of-00003.gguf");
  expect_split_failure(missing, Code::kNotFound, "m-00002-of-00003.gguf: there is no such file");
  Files swapped = three_shards();
  std::swap(swapped["m-00002-of-00003.gguf"], swapped["m-00003-of-00003.gguf"]);
  expect_split_failure(swapped, Code::kMalformed, "this should be shard 2 of 3");
  Files other_count = three_shards();
  other_count["m-00002-of-00003.gguf"] = shard(1, 4, 3).f32("b", 2, 4).build();
  expect_split_failure(other_count, Code::kMalformed, "this should be shard 2 of 3");
  Files twice = three_shards();
  twice["m-00002-of-00003.gguf"] = shard(1, 3, 3).f32("a", 2, 4).build();
  expect_split_failure(twice, Code::kMalformed, "two tensors are called 'a'");
  Files fewer = three_shards();
  fewer["m-00002-of-00003.gguf"] = shard(1, 3, 3).build();
  expect_split_failure(fewer, Code::kMalformed,
                       "'split.tensors.count' is 3, but the 3 shards have 2 tensors");
  expect_split_failure({{"renamed.gguf", shard(1, 3, 3).build()}}, Code::kNotFound,
                       "does not end in -00002-of-00003.gguf");
  expect_split_failure({{"m.gguf", shard(3, 3, 3).build()}}, Code::kMalformed, "do not fit together");
  expect_split_failure({{"m.gguf", shard(0, 60000, 3).build()}}, Code::kMalformed, "do not fit together");
  const auto not_a_number = [](ByteWriter& w) { w.put(0x7fc00000); };
  expect_split_failure({{"m.gguf", GgufBuilder().raw("split.count", 6, not_a_number).build()}},
                       Code::kMalformed, "'split.count' is no number");
}

// Real files -------------------------------------------------------------------------------------------------

TEST(GgufCorpus, ReadsTheRealFiles) {
  ID2VEC_NEED_CORPUS();
  const Result<Directory> stories = open(corpus_file("gguf/stories260K.gguf"));
  ASSERT_TRUE(stories.ok()) << stories.status().message();
  EXPECT_EQ(stories.value().tensors.size(), 48u);
  EXPECT_THAT(stories.value().find("token_embd.weight")->shape, ElementsAre(512, 64));
  EXPECT_EQ(stories.value().vocabulary.size(), 512u);
  EXPECT_EQ(stories.value().vocabulary.scores.size(), 512u);
  const Result<Directory> dummy = open(corpus_file("gguf/hyllama-dummy.gguf"));
  ASSERT_TRUE(dummy.ok()) << dummy.status().message();
  EXPECT_EQ(dummy.value().tensors.size(), 10u);
  const Result<Directory> bert = open(corpus_file("gguf/ggml-vocab-bert-bge.gguf"));
  ASSERT_TRUE(bert.ok()) << bert.status().message();
  EXPECT_EQ(bert.value().vocabulary.size(), 30522u);
  const Result<Directory> gpt2 = open(corpus_file("gguf/ggml-vocab-gpt-2.gguf"));
  ASSERT_TRUE(gpt2.ok()) << gpt2.status().message();
  EXPECT_EQ(gpt2.value().vocabulary.size(), 50257u);
  EXPECT_EQ(gpt2.value().vocabulary.piece(6342),
            "\xc4\xa0"
            "Paris");
}

}  // namespace
}  // namespace id2vec

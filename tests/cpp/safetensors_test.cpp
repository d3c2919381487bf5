// safetensors headers, the index of shards, and config.json beside them.
#include "containers/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "containers/limits.h"
#include "containers/reader.h"
#include "containers/shard_index.h"
#include "cpp/corpus.h"
#include "cpp/drive.h"
#include "cpp/safetensors_builder.h"

namespace id2vec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Directory> open(const std::vector<uint8_t>& bytes, Appetite appetite = as_suggested) {
  return drive({{"m.safetensors", bytes}}, "m.safetensors", read_directory, appetite);
}

void expect_failure(const std::vector<uint8_t>& bytes, Code code, std::string_view sentence) {
  const Result<Directory> directory = open(bytes);
  ASSERT_FALSE(directory.ok()) << sentence;
  EXPECT_EQ(code_name(directory.status().code()), code_name(code)) << directory.status().message();
  EXPECT_THAT(directory.status().message(), HasSubstr(sentence));
  EXPECT_THAT(directory.status().message(), HasSubstr("m.safetensors: "));
}

TEST(Safetensors, ReadsNamesShapesAndRangesOfAnyOrderAndAlignment) {
  const std::string header =
      R"({"b":{"dtype":"F32","shape":[2,1],"data_offsets":[3,11]},)"
      R"("__metadata__":{"format":"pt"},"a":{"shape":[3],"data_offsets":[0,3],"dtype":"U8"},)"
      R"("s":{"dtype":"F16","shape":[],"data_offsets":[11,13]},)"
      R"("none":{"dtype":"F64","shape":[0,7],"data_offsets":[11,11]}}   )";
  const Result<Directory> result = open(safetensors_of(header, 13));
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Directory& directory = result.value();
  EXPECT_EQ(directory.container, "safetensors");
  EXPECT_EQ(directory.text("__metadata__.format", ""), "pt");
  ASSERT_EQ(directory.tensors.size(), 4u);
  const Tensor* b = directory.find("b");
  EXPECT_THAT(b->shape, ElementsAre(2, 1));
  EXPECT_EQ(b->dtype->name, "F32");
  EXPECT_EQ(b->offset, 8 + header.size() + 3);
  EXPECT_EQ(b->bytes, 8u);
  EXPECT_TRUE(directory.find("s")->shape.empty());
  EXPECT_EQ(directory.find("none")->bytes, 0u);
}

TEST(Safetensors, KnowsEveryDtypeAndReadsThoseOfTheCatalog) {
  std::string header;
  size_t at = 0;
  const auto add = [&](const std::string& dtype, size_t bits) {
    const size_t end = at + 8 * bits / 8;
    header += (header.empty() ? "{" : ",") +
              ("\"" + dtype + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[2,4],\"data_offsets\":[" +
               std::to_string(at) + "," + std::to_string(end) + "]}");
    at = end;
  };
  const std::vector<std::pair<std::string, size_t>> read = {
      {"F64", 64},    {"F32", 32}, {"F16", 16}, {"BF16", 16}, {"F8_E4M3", 8},
      {"F8_E5M2", 8}, {"I64", 64}, {"I32", 32}, {"I16", 16},  {"I8", 8},
      {"U64", 64},    {"U32", 32}, {"U16", 16}, {"U8", 8},    {"BOOL", 8}};
  for (const auto& [name, bits] : read) add(name, bits);
  for (const auto& [name, bits] : {std::pair<std::string, size_t>{"F4", 4},
                                   {"F6_E2M3", 6},
                                   {"F6_E3M2", 6},
                                   {"F8_E8M0", 8},
                                   {"C64", 64}}) {
    add(name, bits);
  }
  const Result<Directory> result = open(safetensors_of(header + "}", at));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors.size(), read.size());
  for (const auto& [name, bits] : read) EXPECT_EQ(result.value().find(name)->dtype->name, name);
  ASSERT_EQ(result.value().skipped.size(), 5u);
  EXPECT_EQ(result.value().skipped[0], "m.safetensors: tensor 'F4' has the dtype F4, which is not read");
}

TEST(Safetensors, RefusesHeadersThatLieAboutTheirLength) {
  const std::string header = R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  for (const uint64_t length : {uint64_t{1000}, uint64_t{1} << 30, UINT64_MAX, UINT64_MAX - 7}) {
    ByteWriter file;
    file.put(length).raw(header).put<uint8_t>(0);
    expect_failure(file.bytes, Code::kTruncated, "the header announces " + std::to_string(length) + " bytes");
  }
  ByteWriter shorter;
  shorter.put<uint64_t>(header.size() - 5).raw(header).put<uint8_t>(0);
  expect_failure(shorter.bytes, Code::kMalformed, "no valid JSON");
}

TEST(Safetensors, RefusesHeadersOfMoreThan100MB) {
  FileSet files("m");
  files.set_size("m", 200'000'000);
  ByteWriter start;
  start.put<uint64_t>(100'000'001).raw("{\"");
  start.bytes.resize(limits::kDetectionBytes, ' ');
  std::ranges::copy(start.bytes, files.feed("m", 0, start.bytes.size()).value().begin());
  const Status status = read_directory(files).status();
  EXPECT_EQ(status.code(), Code::kLimit);
  EXPECT_EQ(status.message(), "m: a header of 100000001 bytes is longer than the limit of 100000000");
}

TEST(Safetensors, RefusesHeadersThatMakeNoSense) {
  const auto entry = [](std::string_view rest) {
    return safetensors_of("{\"x\":{" + std::string(rest) + "}}", 16);
  };
  expect_failure(safetensors_of(R"( {"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
                 Code::kMalformed, "does not start with '{'");
  expect_failure(safetensors_of(R"({"x":[]})", 0), Code::kMalformed, "an object was expected");
  expect_failure(
      safetensors_of(
          R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
          2),
      Code::kMalformed, "the JSON key 'x' appears twice");
  expect_failure(safetensors_of(R"({"__metadata__":{"a":1}})", 0), Code::kMalformed, "a string was expected");
  expect_failure(safetensors_of("{} x", 0), Code::kMalformed, "something follows");
  expect_failure(entry(R"("shape":[4,4],"data_offsets":[0,16])"), Code::kMalformed, "lacks a dtype");
  expect_failure(entry(R"("dtype":"U8","data_offsets":[0,16])"), Code::kMalformed, "lacks a dtype");
  expect_failure(entry(R"("dtype":"U8","shape":[4,4])"), Code::kMalformed, "lacks a dtype");
  expect_failure(entry(R"("dtype":"U8","shape":[4,4],"data_offsets":[0])"), Code::kMalformed,
                 "lacks a dtype");
  expect_failure(entry(R"("dtype":"U8","shape":[4,4],"data_offsets":[0,16,16])"), Code::kLimit,
                 "more than 2 numbers");
  expect_failure(entry(R"("dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1])"), Code::kLimit,
                 "more than 8 numbers");
  expect_failure(entry(R"("dtype":"F128","shape":[1],"data_offsets":[0,16])"), Code::kUnsupported,
                 "unknown dtype 'F128'");
  expect_failure(entry(R"("dtype":"Q8_0","shape":[1],"data_offsets":[0,16])"), Code::kUnsupported,
                 "unknown dtype 'Q8_0'");
  expect_failure(entry(R"("dtype":"U8","shape":[-1],"data_offsets":[0,16])"), Code::kMalformed,
                 "an integer from 0");
  expect_failure(entry(R"("dtype":"U8","shape":[4.0],"data_offsets":[0,4])"), Code::kMalformed,
                 "an integer from 0");
  expect_failure(entry(R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])"),
                 Code::kMalformed, "more than 64 bits");
  expect_failure(entry(R"("dtype":"U8","shape":[4,4],"data_offsets":[16,0])"), Code::kMalformed,
                 "takes 16 bytes by its shape");
  expect_failure(entry(R"("dtype":"F32","shape":[4,4],"data_offsets":[0,16])"), Code::kMalformed,
                 "takes 64 bytes by its shape");
}

TEST(Safetensors, RefusesOverlapsHolesAndLeftovers) {
  const auto two = [](const char* first, const char* second, size_t data_bytes) {
    return safetensors_of(std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)") + first +
                              R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}",
                          data_bytes);
  };
  EXPECT_TRUE(open(two("[4,8]", "[0,4]", 8)).ok());
  expect_failure(two("[0,4]", "[2,6]", 6), Code::kMalformed,
                 "'b' starts at data offset 2, inside of the tensor before it, which ends at 4");
  expect_failure(two("[0,4]", "[0,4]", 4), Code::kMalformed, "inside of the tensor before it");
  expect_failure(two("[0,4]", "[5,9]", 9), Code::kMalformed, "leaving a hole");
  expect_failure(two("[1,5]", "[5,9]", 9), Code::kMalformed, "leaving a hole");
  expect_failure(two("[0,4]", "[4,8]", 7), Code::kTruncated, "the tensors take 8 bytes, but only 7 follow");
  expect_failure(two("[0,4]", "[4,8]", 9), Code::kMalformed, "1 bytes follow the last tensor");
}

TEST(Safetensors, RefusesEveryTruncation) {
  std::vector<uint8_t> bytes = SafetensorsBuilder().f32("a", {2, 2}).f32("b", {3}).build();
  ASSERT_TRUE(open(bytes).ok());
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_FALSE(open(bytes).ok()) << bytes.size();
  }
}

TEST(Safetensors, ReadsTheSameHoweverItIsFed) {
  SafetensorsBuilder builder;
  for (int i = 0; i < 20; ++i) builder.f32("tensor" + std::to_string(i), {2, 3});
  const auto one_byte = [](const Want&, uint64_t) { return uint64_t{1}; };
  for (const Appetite& appetite :
       {Appetite(everything), Appetite(as_little_as_possible), Appetite(one_byte)}) {
    const Result<Directory> directory = open(builder.build(), appetite);
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    EXPECT_EQ(directory.value().tensors.size(), 20u);
  }
}

// Shards -----------------------------------------------------------------------------------------------------

Files sharded(const std::string& index) {
  return {{"m.safetensors.index.json", bytes_of(index)},
          {"m-00001-of-00002.safetensors", SafetensorsBuilder().f32("a", {2, 2}).build()},
          {"m-00002-of-00002.safetensors", SafetensorsBuilder().f32("b", {3}).build()}};
}

const char kIndex[] =
    R"({"metadata":{"total_size":28},"weight_map":{"a":"m-00001-of-00002.safetensors","b":"m-00002-of-00002.safetensors"}})";

TEST(ShardIndex, IsOneModelFromIndexShardOrMissingFile) {
  for (const char* root : {"m.safetensors.index.json", "m.safetensors", "m-00001-of-00002.safetensors",
                           "m-00002-of-00002.safetensors"}) {
    const Result<Directory> directory = drive(sharded(kIndex), root, read_directory);
    ASSERT_TRUE(directory.ok()) << root << ": " << directory.status().message();
    EXPECT_THAT(directory.value().files,
                ElementsAre("m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors"));
    EXPECT_EQ(directory.value().find("b")->file, 1u);
    EXPECT_EQ(directory.value().container, "safetensors");
  }
}

TEST(ShardIndex, AShardAloneIsReadByItself) {
  Files files = sharded(kIndex);
  files.erase("m.safetensors.index.json");
  const Result<Directory> directory = drive(files, "m-00002-of-00002.safetensors", read_directory);
  ASSERT_TRUE(directory.ok()) << directory.status().message();
  EXPECT_EQ(directory.value().tensors.size(), 1u);
}

TEST(ShardIndex, RefusesWhatDoesNotFitTogether) {
  const auto message = [](const Files& files) {
    return drive(files, "m.safetensors.index.json", read_directory).status().message();
  };
  Files missing = sharded(kIndex);
  missing.erase("m-00002-of-00002.safetensors");
  EXPECT_THAT(message(missing), HasSubstr("the shard 'm-00002-of-00002.safetensors' is missing"));
  Files twice = sharded(kIndex);
  twice["m-00002-of-00002.safetensors"] = SafetensorsBuilder().f32("a", {3}).f32("b", {3}).build();
  EXPECT_THAT(message(twice), HasSubstr("two tensors are called 'a'"));
  EXPECT_THAT(message(sharded(R"({"weight_map":{"c":"m-00001-of-00002.safetensors"}})")),
              HasSubstr("tensor 'c' of the index is in none of the shards"));
  EXPECT_THAT(message(sharded(R"({"weight_map":{}})")), HasSubstr("names no shard"));
  EXPECT_THAT(message(sharded(R"({"weight_map":{"a":"../../etc/passwd"}})")),
              HasSubstr("is no plain relative file name"));
  EXPECT_THAT(message(sharded(R"({"weight_map":{"a":"https://example.org/x"}})")),
              HasSubstr("is no plain relative file name"));
  EXPECT_THAT(message(sharded(R"({"weight_map":{"a":"m.safetensors.index.json"}})")),
              HasSubstr("is an index itself"));
  EXPECT_THAT(message(sharded(R"({"weight_map":{"a":1}})")), HasSubstr("a string was expected"));
}

// A shard costs two calls, its size and its beginning; each call starts anew, so the calls decide the work.
TEST(ShardIndex, TheNumberOfCallsIsLinearInTheShards) {
  constexpr int kShards = 60;
  Files files;
  std::string map;
  for (int i = 0; i < kShards; ++i) {
    const std::string name = "shard" + std::to_string(i);
    files[name] = SafetensorsBuilder().f32("t" + std::to_string(i), {2}).build();
    map += (i == 0 ? "" : ",") + ("\"t" + std::to_string(i) + "\":\"" + name + "\"");
  }
  files["m.index.json"] = bytes_of("{\"weight_map\":{" + map + "}}");
  size_t calls = 0;
  const Result<Directory> directory = drive(files, "m.index.json", read_directory, as_suggested, &calls);
  ASSERT_TRUE(directory.ok()) << directory.status().message();
  EXPECT_EQ(directory.value().tensors.size(), size_t{kShards});
  EXPECT_LE(calls, 2u * kShards + 4);
}

TEST(ShardIndex, KnowsTheNamesOfShards) {
  EXPECT_EQ(index_of_shard("model-00002-of-00005.safetensors"), "model.safetensors.index.json");
  EXPECT_EQ(index_of_shard("pytorch_model-00002-of-00005.bin"), "pytorch_model.bin.index.json");
  for (const char* name : {"model.safetensors", "-00002-of-0000a.safetensors", "00002-of-00005.safetensors",
                           "", ".", "model-2-of-5.bin"}) {
    EXPECT_EQ(index_of_shard(name), "") << name;
  }
}

// config.json ------------------------------------------------------------------------------------------------

TEST(Config, BecomesMetadata) {
  const Files files = {
      {"m.safetensors", SafetensorsBuilder().f32("a", {2, 2}).build()},
      {"config.json",
       bytes_of(R"({"model_type":"gemma3","text_config":{"hidden_size":640,"rope":{"factor":8.5}},
                         "eos_token_id":[1,106],"architectures":["X"],"flag":true,"nothing":null,"low":-3,"big":1e400,
                         "time_step_limit":[0.0,Infinity],"mixed":[1,"a"],"nested":[[1],[2]]})")}};
  const Result<Directory> result = drive(files, "m.safetensors", read_directory);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Directory& directory = result.value();
  EXPECT_EQ(directory.text("config.model_type", ""), "gemma3");
  EXPECT_EQ(directory.number("config.text_config.hidden_size", 0), 640);
  EXPECT_EQ(directory.number("config.text_config.rope.factor", 0), 8.5);
  EXPECT_EQ(directory.number("config.low", 0), -3);
  EXPECT_EQ(directory.number("config.flag", 0), 1);
  EXPECT_THAT(std::get<std::vector<double>>(directory.metadata.at("config.eos_token_id")),
              ElementsAre(1, 106));
  EXPECT_THAT(std::get<std::vector<std::string>>(directory.metadata.at("config.architectures")),
              ElementsAre("X"));
  EXPECT_EQ(std::get<LongArray>(directory.metadata.at("config.mixed")).length, 2u);
  EXPECT_EQ(std::get<LongArray>(directory.metadata.at("config.nested")).length, 2u);
  EXPECT_FALSE(directory.metadata.contains("config.nothing"));
  EXPECT_TRUE(directory.warnings.empty());
}

TEST(Config, ThatCannotBeReadIsAWarning) {
  const std::vector<uint8_t> model = SafetensorsBuilder().f32("a", {2, 2}).build();
  for (const char* config : {"", "<!doctype html>", "{\"a\":1", "{\"a\":1,\"a\":2}"}) {
    const Result<Directory> directory =
        drive({{"m.safetensors", model}, {"config.json", bytes_of(config)}}, "m.safetensors", read_directory);
    ASSERT_TRUE(directory.ok()) << directory.status().message();
    EXPECT_EQ(directory.value().metadata.size(), 0u);
    ASSERT_EQ(directory.value().warnings.size(), 1u) << config;
    EXPECT_THAT(directory.value().warnings[0], HasSubstr("config.json: "));
  }
}

// What is no model -------------------------------------------------------------------------------------------

TEST(Unknown, FilesAreRecognisedByTheirContent) {
  const auto message = [](std::string_view text) {
    return drive({{"m.gguf", bytes_of(text)}}, "m.gguf", read_directory).status().message();
  };
  EXPECT_THAT(message("<!DOCTYPE html><html>"), HasSubstr("this is an HTML page"));
  EXPECT_THAT(message("\xef\xbb\xbf\n  <html>"), HasSubstr("this is an HTML page"));
  EXPECT_THAT(message("version https://git-lfs.github.com/spec/v1\noid sha256:0"),
              HasSubstr("Git LFS pointer"));
  EXPECT_THAT(message("{\"error\": \"not found\"}"), HasSubstr("this is JSON"));
  EXPECT_THAT(message(std::string_view("\x1f\x8b\x08\0\0\0\0\0\0\0\0\0", 12)), HasSubstr("gzip"));
  EXPECT_THAT(message("tjgg\1\0\0\0"), HasSubstr("before GGUF"));
  EXPECT_THAT(message("ordinary raw bytes"), HasSubstr("no model file that id2vec knows"));
  EXPECT_EQ(message(""), "m.gguf: the file is empty");
}

TEST(Unknown, AMissingFileIsSaidToBeMissing) {
  const Status status = drive(Files{}, "m.gguf", read_directory).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.message(), "m.gguf: there is no such file");
}

// Real files -------------------------------------------------------------------------------------------------

TEST(SafetensorsCorpus, ReadsTheRealFiles) {
  ID2VEC_NEED_CORPUS();
  const Result<Directory> samples = open(corpus_file("safetensors/hf-samples-overall.safetensors"));
  ASSERT_TRUE(samples.ok()) << samples.status().message();
  EXPECT_FALSE(samples.value().tensors.empty());
  const char* folder = "safetensors/stories260K-hf/";
  Files files;
  for (const char* name : {"model.safetensors.index.json", "model-00001-of-00002.safetensors",
                           "model-00002-of-00002.safetensors", "config.json"}) {
    files[name] = corpus_file(std::string(folder) + name);
  }
  const Result<Directory> shards = drive(files, "model.safetensors.index.json", read_directory);
  ASSERT_TRUE(shards.ok()) << shards.status().message();
  EXPECT_EQ(shards.value().find("model.embed_tokens.weight")->file, 1u);
  EXPECT_EQ(shards.value().number("config.hidden_size", 0), 64);
  const Status lying = open(corpus_file("malformed/safetensors_abuse_attempt_1.safetensors")).status();
  EXPECT_EQ(lying.code(), Code::kTruncated);
  EXPECT_THAT(lying.message(), HasSubstr("the header announces 1000 bytes"));
}

}  // namespace
}  // namespace id2vec

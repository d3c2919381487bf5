// What the writers write, the readers read back: names, dtypes, shapes, metadata, vocabulary, weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "containers/reader.h"
#include "corpus.h"
#include "drive.h"
#include "tools/gguf_writer.h"
#include "tools/safetensors_writer.h"

namespace id2vec {
namespace {

using testing::HasSubstr;

Tensor tensor(std::string name, std::string_view dtype, std::vector<uint64_t> shape) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = dtype_by_name(dtype);
  tensor.shape = std::move(shape);
  return tensor;
}

// Weights that say which tensor and which byte they are.
std::vector<std::vector<uint8_t>> marked_weights(const Directory& directory) {
  std::vector<std::vector<uint8_t>> weights;
  for (const Tensor& tensor : directory.tensors) {
    std::vector<uint8_t> bytes(static_cast<size_t>(tensor_bytes("test", tensor).value()));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = uint8_t(weights.size() * 101 + i);
    weights.push_back(std::move(bytes));
  }
  return weights;
}

std::vector<uint8_t> write(const FileLayout& layout, const std::vector<std::vector<uint8_t>>& weights) {
  return assemble(layout, std::vector<Bytes>(weights.begin(), weights.end()));
}

Directory read(const std::string& name, const std::vector<uint8_t>& bytes) {
  Result<Directory> directory = drive({{name, bytes}}, name, read_directory);
  EXPECT_TRUE(directory.ok()) << directory.status().message();
  return directory.ok() ? std::move(directory.value()) : Directory{};
}

void expect_same_tensors(const Directory& written, const Directory& back, const std::vector<uint8_t>& file,
                         const std::vector<std::vector<uint8_t>>& weights) {
  ASSERT_EQ(back.tensors.size(), written.tensors.size());
  for (size_t i = 0; i < written.tensors.size(); ++i) {
    const Tensor* tensor = back.find(written.tensors[i].name);
    ASSERT_NE(tensor, nullptr) << written.tensors[i].name;
    EXPECT_EQ(tensor->dtype, written.tensors[i].dtype);
    EXPECT_EQ(tensor->shape, written.tensors[i].shape);
    ASSERT_EQ(tensor->bytes, weights[i].size());
    EXPECT_TRUE(std::equal(weights[i].begin(), weights[i].end(), file.begin() + tensor->offset))
        << tensor->name;
  }
}

// tokens, scores and types: the reader keeps the lengths of these arrays as metadata.
constexpr size_t kVocabularyKeys = 3;

Directory small_model() {
  Directory directory;
  directory.tensors = {tensor("token_embd.weight", "Q8_0", {3, 64}), tensor("odd.weight", "F32", {5}),
                       tensor("output.weight", "Q4_K", {3, 256}), tensor("conv.weight", "F16", {2, 3, 4, 5})};
  auto& metadata = directory.metadata;
  metadata["general.architecture"] = std::string("llama");
  metadata["a.bool"] = true;
  metadata["a.small"] = uint64_t{7};
  metadata["a.large"] = uint64_t{1} << 40;
  metadata["a.negative"] = int64_t{-7};
  metadata["a.very.negative"] = -(int64_t{1} << 40);
  metadata["a.float"] = 0.5;
  metadata["a.double"] = 0.1;
  metadata["a.numbers"] = std::vector<double>{1, -2, 3};
  metadata["a.halves"] = std::vector<double>{0.5, 1.5};
  metadata["a.tenths"] = std::vector<double>{0.1};
  metadata["a.texts"] = std::vector<std::string>{"x", "", "ж"};
  Vocabulary& vocabulary = directory.vocabulary;
  vocabulary.text = std::string("a\0bћ", 5);
  vocabulary.offsets = {0, 1, 1, 3, 5};
  vocabulary.scores = {0, -1, -2.5, 3};
  vocabulary.types = {1, 2, 3, 6};
  return directory;
}

TEST(GgufWriter, IsReadBack) {
  const Directory written = small_model();
  const auto weights = marked_weights(written);
  const FileLayout layout = gguf_layout(written).value();
  const std::vector<uint8_t> file = write(layout, weights);
  EXPECT_EQ(file.size(), layout.bytes);
  EXPECT_EQ(file.size() % 32, 0u);
  for (uint64_t offset : layout.offsets) EXPECT_EQ(offset % 32, 0u);
  const Directory back = read("m.gguf", file);
  expect_same_tensors(written, back, file, weights);
  ASSERT_EQ(back.metadata.size(), written.metadata.size() + kVocabularyKeys);
  for (const char* key : {"a.small", "a.large", "a.negative", "a.very.negative", "a.float", "a.double"}) {
    EXPECT_EQ(back.number(key, -1), written.number(key, -2)) << key;
  }
  for (const char* key : {"a.numbers", "a.halves", "a.tenths"}) {
    EXPECT_EQ(std::get<std::vector<double>>(back.metadata.find(key)->second),
              std::get<std::vector<double>>(written.metadata.find(key)->second));
  }
  EXPECT_EQ(std::get<bool>(back.metadata.find("a.bool")->second), true);
  EXPECT_EQ(std::get<std::vector<std::string>>(back.metadata.find("a.texts")->second),
            (std::vector<std::string>{"x", "", "ж"}));
  EXPECT_EQ(back.vocabulary.text, written.vocabulary.text);
  EXPECT_EQ(back.vocabulary.offsets, written.vocabulary.offsets);
  EXPECT_EQ(back.vocabulary.scores, written.vocabulary.scores);
  EXPECT_EQ(back.vocabulary.types, written.vocabulary.types);
}

TEST(GgufWriter, ObeysTheAlignment) {
  Directory directory = small_model();
  directory.metadata["general.alignment"] = uint64_t{128};
  const FileLayout layout = gguf_layout(directory).value();
  for (uint64_t offset : layout.offsets) EXPECT_EQ(offset % 128, 0u);
  expect_same_tensors(directory, read("m.gguf", write(layout, marked_weights(directory))),
                      write(layout, marked_weights(directory)), marked_weights(directory));
  for (uint64_t wrong : {uint64_t{0}, uint64_t{4}, uint64_t{48}, uint64_t{1} << 40}) {
    directory.metadata["general.alignment"] = wrong;
    EXPECT_EQ(gguf_layout(directory).status().code(), Code::kInvalidArgument) << wrong;
  }
}

TEST(GgufWriter, LeavesOutWhatIsNotOfOneFile) {
  Directory directory = small_model();
  directory.metadata["split.no"] = uint64_t{0};
  directory.metadata["split.count"] = uint64_t{2};
  directory.metadata["tokenizer.ggml.merges"] = LongArray{.length = 100000};
  const Directory back = read("m.gguf", write(gguf_layout(directory).value(), marked_weights(directory)));
  EXPECT_EQ(back.metadata.size(), small_model().metadata.size() + kVocabularyKeys);
  EXPECT_EQ(back.metadata.count("split.no"), 0u);
}

TEST(GgufWriter, WritesLongArraysAsTheyWereRead) {
  Directory directory = small_model();
  const LongArray bytes{.length = 300, .type = 0, .bytes = std::vector<uint8_t>(300, 7)};
  directory.metadata["tokenizer.ggml.precompiled_charsmap"] = bytes;
  const Directory back = read("m.gguf", write(gguf_layout(directory).value(), marked_weights(directory)));
  const auto& read_back = std::get<LongArray>(back.metadata.at("tokenizer.ggml.precompiled_charsmap"));
  EXPECT_EQ(read_back.length, 300u);
  EXPECT_EQ(read_back.type, 0u);
  EXPECT_EQ(read_back.bytes, bytes.bytes);
}

TEST(GgufWriter, RefusesWhatGgufCannotHold) {
  const auto status = [](Tensor tensor) {
    Directory directory;
    directory.tensors.push_back(std::move(tensor));
    return gguf_layout(directory).status();
  };
  EXPECT_THAT(status(tensor("x", "F8_E4M3", {2, 2})).message(), HasSubstr("F8_E4M3"));
  EXPECT_EQ(status(tensor("x", "F32", {1, 1, 1, 1, 1})).code(), Code::kUnsupported);
  EXPECT_EQ(status(tensor("x", "F32", {})).code(), Code::kUnsupported);
  EXPECT_EQ(status(tensor(std::string(64, 'x'), "F32", {1})).code(), Code::kUnsupported);
  EXPECT_FALSE(status(tensor("x", "Q4_K", {2, 100})).ok());
  EXPECT_TRUE(status(tensor(std::string(63, 'x'), "F32", {1})).ok());
}

TEST(GgufWriter, RewritesTheGoldenFiles) {
  ID2VEC_NEED_CORPUS();
  for (const char* name :
       {"tiny-q4_k.gguf", "tiny-iq1_s.gguf", "tiny-untied-q4_k-q6_k.gguf", "tiny-q8_0-align64.gguf"}) {
    SCOPED_TRACE(name);
    const std::vector<uint8_t> original = corpus_file(std::string("golden/") + name);
    const Directory directory = read(name, original);
    std::vector<std::vector<uint8_t>> weights;
    for (const Tensor& t : directory.tensors) {
      weights.emplace_back(original.begin() + t.offset, original.begin() + t.offset + t.bytes);
    }
    const std::vector<uint8_t> file = write(gguf_layout(directory).value(), weights);
    EXPECT_EQ(file.size(), original.size());
    const Directory back = read(name, file);
    expect_same_tensors(directory, back, file, weights);
    EXPECT_EQ(back.vocabulary.text, directory.vocabulary.text);
    EXPECT_EQ(back.metadata.size(), directory.metadata.size());
  }
}

TEST(SafetensorsWriter, IsReadBack) {
  Directory written;
  written.tensors = {tensor("scale", "BF16", {3}), tensor("q\"uo\\te\n", "I8", {3, 5}),
                     tensor("embeddings", "F32", {3, 4}), tensor("ids", "I64", {2}),
                     tensor("f8", "F8_E5M2", {1})};
  written.metadata["__metadata__.format"] = std::string("pt");
  written.metadata["__metadata__.a\tb"] = std::string("\"quoted\"");
  written.metadata["general.architecture"] = std::string("left out");
  const auto weights = marked_weights(written);
  const FileLayout layout = safetensors_layout(written).value();
  const std::vector<uint8_t> file = write(layout, weights);
  EXPECT_EQ(file.size(), layout.bytes);
  for (size_t i = 0; i < layout.offsets.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % written.tensors[i].dtype->block_bytes, 0u) << written.tensors[i].name;
  }
  const Directory back = read("m.safetensors", file);
  expect_same_tensors(written, back, file, weights);
  EXPECT_EQ(back.text("__metadata__.format", ""), "pt");
  EXPECT_EQ(back.text("__metadata__.a\tb", ""), "\"quoted\"");
  EXPECT_EQ(back.text("general.architecture", ""), "");
}

TEST(SafetensorsWriter, WritesAnEmptyFile) {
  const std::vector<uint8_t> file = write(safetensors_layout({}).value(), {});
  EXPECT_TRUE(read("m.safetensors", file).tensors.empty());
}

TEST(SafetensorsWriter, RefusesBlocksAndDoubleNames) {
  Directory directory;
  directory.tensors = {tensor("x", "Q8_0", {2, 32})};
  EXPECT_EQ(safetensors_layout(directory).status().code(), Code::kUnsupported);
  EXPECT_THAT(safetensors_layout(directory).status().message(), HasSubstr("Q8_0"));
  directory.tensors = {tensor("x", "AFFINE_8", {2, 32})};
  EXPECT_EQ(safetensors_layout(directory).status().code(), Code::kUnsupported);
  directory.tensors = {tensor("x", "F32", {1}), tensor("x", "F32", {1})};
  EXPECT_FALSE(safetensors_layout(directory).ok());
}

}  // namespace
}  // namespace id2vec

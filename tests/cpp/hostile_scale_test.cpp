// Files of honest size that ask for dishonest work: many names, many uses of one name, many candidates. All of them are
// answered in a time that grows with the file and not with its square (which would be minutes here, against a second or two).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "cpp/drive.h"
#include "cpp/gguf_builder.h"
#include "cpp/onnx_builder.h"
#include "cpp/pickle_builder.h"
#include "cpp/safetensors_builder.h"
#include "model/model.h"

namespace id2vec {
namespace {

using testing::HasSubstr;

constexpr int kMany = 40'000;

// A sanitized build on a busy machine takes seconds for the slowest of these.
constexpr std::chrono::seconds kPatience{30};

Status open(const Files& files, const std::string& root) {
  const auto start = std::chrono::steady_clock::now();
  const Result<ModelPlan> plan =
      drive(files, root, [](FileSet& set) { return open_model(set, {}); }, everything);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPatience);
  return plan.status();
}

void expect_success(const Status& status) { EXPECT_TRUE(status.ok()) << status.message(); }

std::string number(int i) { return std::to_string(i); }

// Every one of them is called like an embedding, and looks for scales, zero points and maxima beside it.
TEST(HostileScale, ManyInt8TablesWithoutScales) {
  std::string header = "{";
  for (int i = 0; i < kMany; ++i) {
    header += (i == 0 ? "\"" : ",\"") + number(i) +
              ".embed_tokens.weight\":{\"dtype\":\"I8\",\"shape\":[2,1],\"data_offsets\":[" + number(2 * i) +
              "," + number(2 * i + 2) + "]}";
  }
  expect_success(open({{"m", safetensors_of(header + "}", 2 * kMany)}}, "m"));
}

TEST(HostileScale, ManyHeadsThatCannotBeRead) {
  std::string header = R"({"wte.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]})";
  for (int i = 0; i < kMany; ++i) {
    header += ",\"" + number(i) + ".lm_head.weight\":{\"dtype\":\"U32\",\"shape\":[2,1],\"data_offsets\":[" +
              number(8 + 8 * i) + "," + number(16 + 8 * i) + "]}";
  }
  expect_success(open({{"m", safetensors_of(header + "}", 8 + 8 * kMany)}}, "m"));
}

TEST(HostileScale, ManyTensorsOfGguf) {
  GgufBuilder gguf;
  for (int i = 0; i < kMany; ++i)
    gguf.tensor({number(i) + ".embed_tokens.weight", {32, 2}, 8, std::vector<uint8_t>(68), 0});
  expect_success(open({{"m", gguf.build()}}, "m"));
}

// A pickle of one storage and many names for it.
TEST(HostileScale, ManyNamesForOneStorage) {
  PickleBuilder pickle;
  pickle.op("}(").text("wte.weight").tensor("FloatStorage", "0", 12, 0, {3, 4}, {4, 1}).op("q\x01");
  for (int i = 0; i < kMany; ++i) pickle.text(number(i) + ".embed_tokens.weight").op("h\x01");
  const std::vector<uint8_t> file =
      torch_zip(pickle.op("u").stop(), {{"0", std::vector<uint8_t>(48)}}).build();
  expect_success(open({{"m", file}}, "m"));
}

using namespace onnx;

Proto big_graph(const Proto& nodes, const std::vector<Proto>& tensors) {
  Proto whole = graph({}, tensors);
  whole.out = nodes.out + whole.out;
  return whole;
}

// One value that many operators claim to make and many take.
TEST(HostileScale, ManyOperatorsAroundOneValue) {
  Proto nodes;
  for (int i = 0; i < kMany / 2; ++i) nodes.message(1, node("Gather", {"q", "input_ids"}, {"g"}));
  for (int i = 0; i < kMany / 2; ++i) nodes.message(1, node("DequantizeLinear", {"g", "rows"}, {"x"}));
  const auto file =
      model(big_graph(nodes, {raw_tensor("q", kU8, {4, 2}, 8), raw_tensor("rows", kF32, {4}, 16)}));
  EXPECT_FALSE(open({{"m.onnx", file}}, "m.onnx").ok());
}

// Many graph inputs, and many lookups whose index comes from the last of them.
TEST(HostileScale, ManyGraphInputs) {
  Proto nodes;
  for (int i = 0; i < kMany; ++i) nodes.message(11, Proto().bytes(1, "i" + number(i)));
  const std::string last = "i" + number(kMany - 1);
  for (int i = 0; i < kMany; ++i) nodes.message(1, node("Gather", {"e", last}, {"x" + number(i)}));
  EXPECT_TRUE(
      open({{"m.onnx", model(big_graph(nodes, {raw_tensor("e", kF32, {4, 2}, 32)}))}}, "m.onnx").ok());
}

// Many tables that ids look up, many outputs with a head of another width each.
TEST(HostileScale, ManyTablesAndHeads) {
  Proto nodes;
  std::vector<Proto> tensors;
  for (int i = 0; i < kMany / 4; ++i) {
    const std::string n = number(i), table = "e" + n, head = "w" + n, out = "o" + n;
    tensors.push_back(raw_tensor(table, kF32, {1, 1}, 4));
    tensors.push_back(raw_tensor(head, kF32, {2, 1}, 8));
    nodes.message(1, node("Gather", {table, "input_ids"}, {"x" + n}))
        .message(1, node("MatMul", {"h", head}, {out}));
    nodes.message(12, Proto().bytes(1, out));
  }
  expect_success(open({{"m.onnx", model(big_graph(nodes, tensors))}}, "m.onnx"));
}

// A key of 3,000 bytes around many short ones: written out, their names would be a thousand times the file.
TEST(HostileScale, ManyShortKeysInALongOne) {
  std::string config = "{\"" + std::string(3000, 'k') + "\": {";
  for (int i = 0; i < kMany; ++i) config += (i == 0 ? "\"" : ",\"") + number(i) + "\":1";
  const std::vector<uint8_t> table = SafetensorsBuilder().f32("wte.weight", {2, 2}).build();
  Files files = {{"m", table}, {"config.json", bytes_of(config + "}, \"model_type\": \"llama\"}")}};
  size_t kept = 0;
  const auto plan = drive(files, "m", [](FileSet& set) { return open_model(set, {}); }, everything);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  for (const auto& [key, value] : plan.value().directory.metadata) kept += key.size();
  EXPECT_LE(kept, 16 * files["config.json"].size() + (64 << 10));
}

// Nothing is kept for a key that is long and holds much.
TEST(HostileScale, ManyKeysInAKeyOfAMegabyte) {
  std::string config = "{\"" + std::string(1 << 20, 'k') + "\": {";
  for (int i = 0; i < kMany; ++i) config += (i == 0 ? "\"" : ",\"") + number(i) + "\":1";
  const std::vector<uint8_t> table = SafetensorsBuilder().f32("wte.weight", {2, 2}).build();
  expect_success(open({{"m", table}, {"config.json", bytes_of(config + "}}")}}, "m"));
}

}  // namespace
}  // namespace id2vec

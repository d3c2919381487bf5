// Files of honest size that ask for dishonest work: many names, many uses of one name, many candidates. A file four
// times as long may cost four times the work, a little more where something is sorted, and not sixteen times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cpp/drive.h"
#include "cpp/gguf_builder.h"
#include "cpp/onnx_builder.h"
#include "cpp/pickle_builder.h"
#include "cpp/safetensors_builder.h"
#include "cpp/work_meter.h"
#include "model/model.h"

namespace id2vec {
namespace {

using namespace onnx;

constexpr int kMany = 20'000;

Result<ModelPlan> open(const Files& files) {
  return drive(files, "m", [](FileSet& set) { return open_model(set, {}); }, everything);
}

std::string number(int i) { return std::to_string(i); }

// Every one of them is called like an embedding, and looks for scales, zero points and maxima beside it.
Files int8_tables_without_scales(int n) {
  std::string header = "{";
  for (int i = 0; i < n; ++i) {
    header += (i == 0 ? "\"" : ",\"") + number(i) +
              ".embed_tokens.weight\":{\"dtype\":\"I8\",\"shape\":[2,1],\"data_offsets\":[" + number(2 * i) +
              "," + number(2 * i + 2) + "]}";
  }
  return {{"m", safetensors_of(header + "}", 2 * n)}};
}

Files heads_that_cannot_be_read(int n) {
  std::string header = R"({"wte.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]})";
  for (int i = 0; i < n; ++i) {
    header += ",\"" + number(i) + ".lm_head.weight\":{\"dtype\":\"U32\",\"shape\":[2,1],\"data_offsets\":[" +
              number(8 + 8 * i) + "," + number(16 + 8 * i) + "]}";
  }
  return {{"m", safetensors_of(header + "}", 8 + 8 * n)}};
}

Files tensors_of_gguf(int n) {
  GgufBuilder gguf;
  for (int i = 0; i < n; ++i)
    gguf.tensor({number(i) + ".embed_tokens.weight", {32, 2}, 8, std::vector<uint8_t>(68), 0});
  return {{"m", gguf.build()}};
}

// A pickle of one storage and many names for it.
Files names_for_one_storage(int n) {
  PickleBuilder pickle;
  pickle.op("}(").text("wte.weight").tensor("FloatStorage", "0", 12, 0, {3, 4}, {4, 1}).op("q\x01");
  for (int i = 0; i < n; ++i) pickle.text(number(i) + ".embed_tokens.weight").op("h\x01");
  return {{"m", torch_zip(pickle.op("u").stop(), {{"0", std::vector<uint8_t>(48)}}).build()}};
}

Files graph_of(const Proto& nodes, const std::vector<Proto>& tensors) {
  Proto whole = graph({}, tensors);
  whole.out = nodes.out + whole.out;
  return {{"m", model(whole)}};
}

// One value that many operators claim to make and many take.
Files operators_around_one_value(int n) {
  Proto nodes;
  for (int i = 0; i < n / 2; ++i) nodes.message(1, node("Gather", {"q", "input_ids"}, {"g"}));
  for (int i = 0; i < n / 2; ++i) nodes.message(1, node("DequantizeLinear", {"g", "rows"}, {"x"}));
  return graph_of(nodes, {raw_tensor("q", kU8, {4, 2}, 8), raw_tensor("rows", kF32, {4}, 16)});
}

// Many graph inputs, and many lookups whose index comes from the last of them.
Files graph_inputs(int n) {
  Proto nodes;
  for (int i = 0; i < n; ++i) nodes.message(11, Proto().bytes(1, "i" + number(i)));
  const std::string last = "i" + number(n - 1);
  for (int i = 0; i < n; ++i) nodes.message(1, node("Gather", {"e", last}, {"x" + number(i)}));
  return graph_of(nodes, {raw_tensor("e", kF32, {4, 2}, 32)});
}

// Many tables that ids look up, many outputs with a head each.
Files tables_and_heads(int n) {
  Proto nodes;
  std::vector<Proto> tensors;
  for (int i = 0; i < n / 2; ++i) {
    const std::string at = number(i), table = "e" + at, head = "w" + at, out = "o" + at;
    tensors.push_back(raw_tensor(table, kF32, {1, 1}, 4));
    tensors.push_back(raw_tensor(head, kF32, {2, 1}, 8));
    nodes.message(1, node("Gather", {table, "input_ids"}, {"x" + at}))
        .message(1, node("MatMul", {"h", head}, {out}));
    nodes.message(12, Proto().bytes(1, out));
  }
  return graph_of(nodes, tensors);
}

// Many short keys in one of `length` bytes: written out, their names would be a thousand times the file.
Files short_keys_in_a_long_one(int n, size_t length) {
  std::string config = R"({"model_type": "llama", ")" + std::string(length, 'k') + "\": {";
  for (int i = 0; i < n; ++i) config += (i == 0 ? "\"" : ",\"") + number(i) + "\":1";
  return {{"m", SafetensorsBuilder().f32("wte.weight", {2, 2}).build()},
          {"config.json", bytes_of(config + "}}")}};
}

Files keys_in_a_key_of_3000_bytes(int n) { return short_keys_in_a_long_one(n, 3000); }
Files keys_in_a_key_of_a_megabyte(int n) { return short_keys_in_a_long_one(n, 1 << 20); }

struct Scaled {
  const char* name;
  Files (*make)(int n);  // a model in the file "m"
  bool opens = true;
};

class HostileScale : public testing::TestWithParam<Scaled> {};

TEST_P(HostileScale, WorkGrowsWithTheFile) {
  const auto work = [](int n) {
    const Files files = GetParam().make(n);
    bool opened = false;
    const test::Work done = test::work_of([&] { opened = open(files).ok(); });
    EXPECT_EQ(opened, GetParam().opens) << open(files).status().message();
    return done;
  };
  const test::Work less = work(kMany / 4), more = work(kMany);
  // A compiler that does not report comparisons; allocations are known with every sanitizer.
  if (less.comparisons == 0) GTEST_SKIP() << "comparisons are counted in builds by Clang alone";
  EXPECT_GT(less.allocated, 0u);
  EXPECT_LT(more.comparisons, 6 * less.comparisons);
  EXPECT_LT(more.allocated, 6 * less.allocated);
}

INSTANTIATE_TEST_SUITE_P(, HostileScale,
                         testing::Values(Scaled{"Int8TablesWithoutScales", int8_tables_without_scales},
                                         Scaled{"HeadsThatCannotBeRead", heads_that_cannot_be_read},
                                         Scaled{"TensorsOfGguf", tensors_of_gguf},
                                         Scaled{"NamesForOneStorage", names_for_one_storage},
                                         Scaled{"OperatorsAroundOneValue", operators_around_one_value, false},
                                         Scaled{"GraphInputs", graph_inputs},
                                         Scaled{"TablesAndHeads", tables_and_heads},
                                         Scaled{"KeysInAKeyOf3000Bytes", keys_in_a_key_of_3000_bytes},
                                         Scaled{"KeysInAKeyOfAMegabyte", keys_in_a_key_of_a_megabyte}),
                         [](const auto& info) { return info.param.name; });

TEST(HostileKeys, AreKeptInTheMeasureOfTheirFile) {
  const Files files = keys_in_a_key_of_3000_bytes(kMany);
  const Result<ModelPlan> plan = open(files);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  size_t kept = 0;
  for (const auto& [key, value] : plan.value().directory.metadata) kept += key.size();
  EXPECT_LE(kept, 16 * files.at("config.json").size() + (64 << 10));
}

}  // namespace
}  // namespace id2vec

// From ONNX files to rows: quantized tables in every way that operators pack them, worked by hand; and what is said of
// those that are not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drive.h"
#include "model/model.h"
#include "onnx_builder.h"
#include "support/load_table.h"

namespace id2vec {
namespace {

using namespace onnx;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Tying = ModelPlan::Tying;

constexpr auto kU2 = static_cast<Type>(25);

Proto with_data(std::string_view name, Type type, const std::vector<uint64_t>& dims,
                const std::vector<uint8_t>& data) {
  return tensor(name, type, dims).bytes(9, std::string(data.begin(), data.end()));
}
Proto floats(std::string_view name, const std::vector<uint64_t>& dims, const std::vector<float>& values) {
  ByteWriter data;
  for (const float value : values) data.put(value);
  return with_data(name, kF32, dims, data.bytes);
}
std::vector<uint8_t> filled(size_t bytes, uint8_t value) { return std::vector<uint8_t>(bytes, value); }

struct Opened {
  Files files;
  Result<ModelPlan> plan;
};

Opened open(const std::vector<Proto>& nodes, const std::vector<Proto>& tensors) {
  Files files = {{"m.onnx", model(graph(nodes, tensors))}};
  Result<ModelPlan> plan = drive(files, "m.onnx", [](FileSet& set) { return open_model(set, {}); });
  return {std::move(files), std::move(plan)};
}

// All rows of a role, as the scalar kernels decode them.
std::vector<std::vector<float>> rows_of(const Opened& opened, std::string_view role) {
  EXPECT_TRUE(opened.plan.ok()) << opened.plan.status().message();
  if (!opened.plan.ok()) return {};
  const Role* found = opened.plan.value().find(role);
  EXPECT_NE(found, nullptr) << role;
  if (found == nullptr) return {};
  const auto bytes_of = [&](const std::string& file) { return Bytes(opened.files.at(file)); };
  auto table = test::load_table(opened.plan.value(), found->source, *kernel_table("scalar"), bytes_of);
  EXPECT_TRUE(table.ok()) << table.status().message();
  if (!table.ok()) return {};
  std::vector<std::vector<float>> rows;
  for (uint32_t id = 0; id < found->source.spec.rows; ++id) {
    rows.emplace_back(found->source.spec.cols);
    EXPECT_TRUE(table.value()->lookup(std::span(&id, 1), rows.back()).ok());
  }
  return rows;
}

// The first weight of every block of 16.
std::vector<float> firsts(const std::vector<float>& row) {
  std::vector<float> values;
  for (size_t i = 0; i < row.size(); i += 16) values.push_back(row[i]);
  return values;
}

std::vector<Proto> lookup_of(const std::vector<std::string_view>& inputs, int64_t bits = 4) {
  return {
      node("GatherBlockQuantized", inputs, {"x"}, {attribute("block_size", 16), attribute("bits", bits)})};
}

// Three rows of three blocks. Every quant is 10; the zero points are 1 … 9, block by block.
void expect_ten_minus_one_to_nine(const Opened& opened) {
  const auto rows = rows_of(opened, "embedding");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(firsts(rows[0]), ElementsAre(9, 8, 7));
  EXPECT_THAT(firsts(rows[1]), ElementsAre(6, 5, 4));
  EXPECT_THAT(firsts(rows[2]), ElementsAre(3, 2, 1));
  for (size_t block = 0; block < 3; ++block) {
    const std::vector<float> weights(rows[2].begin() + 16 * static_cast<ptrdiff_t>(block),
                                     rows[2].begin() + 16 * static_cast<ptrdiff_t>(block + 1));
    EXPECT_THAT(weights, Each(3 - static_cast<float>(block)));
  }
}

const std::vector<float> kNineOnes(9, 1.0f);

// A tensor of type UINT4 is packed over all its elements: nine zero points are five bytes, and the second row starts in
// the middle of the second one.
TEST(OnnxTables, ZeroPointsOfTheFourBitTypesCrossRows) {
  const Opened opened = open(lookup_of({"q", "input_ids", "s", "z"}),
                             {with_data("q", kU4, {3, 48}, filled(72, 0xAA)), floats("s", {3, 3}, kNineOnes),
                              with_data("z", kU4, {3, 3}, {0x21, 0x43, 0x65, 0x87, 0x09})});
  expect_ten_minus_one_to_nine(opened);
  ASSERT_TRUE(opened.plan.ok());
  EXPECT_EQ(opened.plan.value().roles[0].source.conversion, Conversion::kZeroPoints);
}

// The same, but in int32_data: a byte of two elements for each integer.
TEST(OnnxTables, ZeroPointsThatCrossRowsMayStandInTheHeader) {
  Proto zero = tensor("z", kU4, {3, 3});
  for (const uint64_t byte : {0x21, 0x43, 0x65, 0x87, 0x09}) zero.varint(5, byte);
  expect_ten_minus_one_to_nine(
      open(lookup_of({"q", "input_ids", "s", "z"}),
           {with_data("q", kU4, {3, 48}, filled(72, 0xAA)), floats("s", {3, 3}, kNineOnes), zero}));
}

// An operator that packs into UINT8 by itself pads each row to a byte.
TEST(OnnxTables, ZeroPointsPackedIntoBytesArePaddedByRow) {
  const Opened opened = open(lookup_of({"q", "input_ids", "s", "z"}),
                             {with_data("q", kU8, {3, 24}, filled(72, 0xAA)), floats("s", {3, 3}, kNineOnes),
                              with_data("z", kU8, {3, 2}, {0x21, 0x03, 0x54, 0x06, 0x87, 0x09})});
  expect_ten_minus_one_to_nine(opened);
  EXPECT_EQ(opened.plan.value().roles[0].source.conversion, Conversion::kNone);
}

// Quants of −2 (0xE); zero points −1 … −8, then 7.
TEST(OnnxTables, SignedZeroPointsCrossRows) {
  const auto rows =
      rows_of(open(lookup_of({"q", "input_ids", "s", "z"}),
                   {with_data("q", kI4, {3, 48}, filled(72, 0xEE)), floats("s", {3, 3}, kNineOnes),
                    with_data("z", kI4, {3, 3}, {0xEF, 0xCD, 0xAB, 0x89, 0x07})}),
              "embedding");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(firsts(rows[0]), ElementsAre(-1, 0, 1));
  EXPECT_THAT(firsts(rows[1]), ElementsAre(2, 3, 4));
  EXPECT_THAT(firsts(rows[2]), ElementsAre(5, 6, -9));
}

// Two bits, by DequantizeLinear in blocks. Quants 3; zero points 0 1 2 | 3 0 1 | 2 3 0: 0b11'10'01'00, 0b11'10'01'00, 0.
TEST(OnnxTables, ZeroPointsOfTwoBitsCrossRows) {
  const auto rows = rows_of(
      open({node("DequantizeLinear", {"q", "s", "z"}, {"e"}, {attribute("block_size", 16)}),
            node("Gather", {"e", "input_ids"}, {"x"})},
           {with_data("q", kU2, {3, 48}, filled(36, 0xFF)), floats("s", {3, 3}, {1, 2, 4, 1, 2, 4, 1, 2, 4}),
            with_data("z", kU2, {3, 3}, {0xE4, 0xE4, 0x00})}),
      "embedding");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(firsts(rows[0]), ElementsAre(3, 4, 4));
  EXPECT_THAT(firsts(rows[1]), ElementsAre(0, 6, 8));
  EXPECT_THAT(firsts(rows[2]), ElementsAre(1, 0, 12));
}

// One zero point per row, five of them: 1 2 3 4 5 in three bytes.
TEST(OnnxTables, ZeroPointsOfRowsShareBytes) {
  const auto rows =
      rows_of(open({node("DequantizeLinear", {"q", "s", "z"}, {"e"}, {attribute("axis", 0)}),
                    node("Gather", {"e", "input_ids"}, {"x"})},
                   {with_data("q", kU4, {5, 16}, filled(40, 0x77)), floats("s", {5}, {1, 1, 1, 1, 0.5f}),
                    with_data("z", kU4, {5}, {0x21, 0x43, 0x05})}),
              "embedding");
  ASSERT_EQ(rows.size(), 5u);
  const float expected[] = {6, 5, 4, 3, 1};
  for (size_t id = 0; id < 5; ++id) EXPECT_THAT(rows[id], Each(expected[id])) << id;
}

// One zero point for all: a single nibble.
TEST(OnnxTables, OneZeroPointForAllRows) {
  const auto rows = rows_of(
      open({node("DequantizeLinear", {"q", "s", "z"}, {"e"}), node("Gather", {"e", "input_ids"}, {"x"})},
           {with_data("q", kU4, {2, 16}, filled(16, 0x77)), floats("s", {}, {2}),
            with_data("z", kU4, {}, {0x05})}),
      "embedding");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0], Each(4));
  EXPECT_THAT(rows[1], Each(4));
}

// Zero points of MatMulNBits are bytes, padded by row; some writers list them in one dimension.
TEST(OnnxTables, ZeroPointsOfMatMulNBitsArePaddedByRow) {
  const std::vector<Proto> attributes = {attribute("bits", 4), attribute("block_size", 16), attribute("N", 3),
                                         attribute("K", 48)};
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{3, 2}, std::vector<uint64_t>{6}}) {
    const auto rows = rows_of(
        open({node("Gather", {"e", "input_ids"}, {"x"}),
              node("MatMulNBits", {"h", "q", "s", "z"}, {"logits"}, attributes)},
             {floats("e", {3, 48}, std::vector<float>(144)), with_data("q", kU8, {3, 3, 8}, filled(72, 0xAA)),
              floats("s", {9}, kNineOnes), with_data("z", kU8, shape, {0x21, 0x03, 0x54, 0x06, 0x87, 0x09})}),
        "head");
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_THAT(firsts(rows[0]), ElementsAre(9, 8, 7));
    EXPECT_THAT(firsts(rows[2]), ElementsAre(3, 2, 1));
  }
}

// Heads that stand transposed: q is [d, V] = [2, 3] ---------------------------------------------------------------

const std::vector<uint8_t> kTransposed = {1, 2, 3, 11, 12, 13};

Opened with_head(const std::vector<Proto>& head, std::vector<Proto> tensors) {
  std::vector<Proto> nodes = {node("Gather", {"e", "input_ids"}, {"x"})};
  nodes.insert(nodes.end(), head.begin(), head.end());
  tensors.push_back(floats("e", {3, 2}, {0, 0, 0, 0, 0, 0}));
  return open(nodes, tensors);
}

TEST(OnnxTables, DequantizesATransposedHeadByColumn) {
  const auto rows =
      rows_of(with_head({node("DequantizeLinear", {"q", "s", "z"}, {"w"}, {attribute("axis", 1)}),
                         node("MatMul", {"h", "w"}, {"logits"})},
                        {with_data("q", kU8, {2, 3}, kTransposed), floats("s", {3}, {1, 2, 4}),
                         with_data("z", kU8, {3}, {1, 1, 3})}),
              "head");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0], ElementsAre(0, 10));
  EXPECT_THAT(rows[1], ElementsAre(2, 22));
  EXPECT_THAT(rows[2], ElementsAre(0, 40));
}

// What dynamic quantization makes of a linear layer: h is rounded, multiplied in integers, and scaled by the product of
// both scales.
TEST(OnnxTables, ReadsTheWeightsOfAnIntegerProduct) {
  const std::vector<Proto> product = {node("DynamicQuantizeLinear", {"h"}, {"hq", "hs", "hz"}),
                                      node("MatMulInteger", {"hq", "q", "hz", "z"}, {"i"}),
                                      node("Cast", {"i"}, {"f"}), node("Mul", {"hs", "s"}, {"both"}),
                                      node("Mul", {"f", "both"}, {"logits"})};
  const auto rows = rows_of(with_head(product, {with_data("q", kI8, {2, 3}, {1, 2, 3, 0xFF, 0xFE, 0xFD}),
                                                floats("s", {1}, {0.5f}), with_data("z", kI8, {1}, {1})}),
                            "head");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0], ElementsAre(0, -1));
  EXPECT_THAT(rows[2], ElementsAre(1, -2));
}

TEST(OnnxTables, ReadsTheWeightsOfADynamicallyQuantizedProduct) {
  const Opened opened = with_head({node("DynamicQuantizeMatMul", {"h", "q", "s", "z", "b"}, {"logits"})},
                                  {with_data("q", kU8, {2, 3}, kTransposed), floats("s", {}, {2}),
                                   with_data("z", kU8, {}, {10}), floats("b", {3}, {7, 8, 9})});
  const auto rows = rows_of(opened, "head");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[1], ElementsAre(-16, 4));
  EXPECT_THAT(rows_of(opened, "head_bias").at(0), ElementsAre(7, 8, 9));
}

// Refusals --------------------------------------------------------------------------------------------------------

// The embedding loads; of the head it is said what is wrong, and it does not pass for a tied one.
void expect_no_head(const Opened& opened, std::string_view piece) {
  ASSERT_TRUE(opened.plan.ok()) << opened.plan.status().message();
  const ModelPlan& plan = opened.plan.value();
  EXPECT_EQ(plan.roles[0].source.name, "e");
  EXPECT_EQ(plan.find("head"), nullptr);
  EXPECT_EQ(plan.tying, Tying::kUntied);
  EXPECT_THAT(plan.head_problem, HasSubstr("the head cannot be read, so there are no logits: tensor 'q' "));
  EXPECT_THAT(plan.head_problem, HasSubstr(piece));
  EXPECT_THAT(plan.warnings, ElementsAre(plan.head_problem));
}

Opened with_matmul_n_bits(const std::vector<std::string_view>& inputs, uint64_t cols, Proto zero_points,
                          int64_t bits = 4) {
  const std::vector<Proto> attributes = {attribute("bits", bits), attribute("block_size", 16),
                                         attribute("N", 3), attribute("K", static_cast<int64_t>(cols))};
  const uint64_t blocks = (cols + 15) / 16;
  return open(
      {node("Gather", {"e", "input_ids"}, {"x"}), node("MatMulNBits", inputs, {"logits"}, attributes)},
      {floats("e", {3, cols}, std::vector<float>(3 * cols)),
       with_data("q", kU8, {3, blocks, 8}, filled(3 * blocks * 8, 0xAA)),
       floats("s", {3 * blocks}, std::vector<float>(3 * blocks, 1)), zero_points,
       raw_tensor("g", static_cast<Type>(6), {cols}, cols * 4)});
}

TEST(OnnxTables, RefusesReorderedColumns) {
  expect_no_head(with_matmul_n_bits({"h", "q", "s", "", "g"}, 32, floats("z", {1}, {0})),
                 "reordered (g_idx of MatMulNBits), which is not read; quantize it without activation order");
}

TEST(OnnxTables, RefusesFloatZeroPoints) {
  expect_no_head(with_matmul_n_bits({"h", "q", "s", "z"}, 32, floats("z", {3, 2}, {1, 2, 3, 4, 5, 6})),
                 "has F32 zero points, which are not read; quantize it with integer zero points");
}

TEST(OnnxTables, RefusesBlocksThatPassTheRow) {
  expect_no_head(with_matmul_n_bits({"h", "q", "s"}, 40, floats("z", {1}, {0})),
                 "rows of 40 weights, which end inside a block of 16");
}

TEST(OnnxTables, RefusesOtherWidths) {
  expect_no_head(with_matmul_n_bits({"h", "q", "s"}, 32, floats("z", {1}, {0}), 3),
                 "has 3 bits per weight, which is not read");
}

TEST(OnnxTables, RefusesTransposedNibbles) {
  const Opened opened = open({node("Gather", {"e", "input_ids"}, {"x"}),
                              node("DequantizeLinear", {"q", "s"}, {"w"}, {attribute("axis", 1)}),
                              node("MatMul", {"h", "w"}, {"logits"})},
                             {floats("e", {4, 2}, std::vector<float>(8)),
                              with_data("q", kU4, {2, 4}, {1, 2, 3, 4}), floats("s", {4}, {1, 1, 1, 1})});
  expect_no_head(opened, "is quantized to fewer than 8 bits and stored transposed");
}

TEST(OnnxTables, RefusesScalesOfColumns) {
  const auto head = [](int64_t axis, const Proto& scales) {
    return with_head({node("DequantizeLinear", {"q", "s"}, {"w"}, {attribute("axis", axis)}),
                      node("MatMul", {"h", "w"}, {"logits"})},
                     {with_data("q", kU8, {2, 3}, kTransposed), scales});
  };
  expect_no_head(head(0, floats("s", {2}, {1, 1})), "scales that run along its columns");
  expect_no_head(head(1, floats("s", {2}, {1, 1})), "has 2 scales for 3 rows");
}

TEST(OnnxTables, RefusesAnIntegerProductWithoutItsScale) {
  expect_no_head(
      with_head({node("MatMulInteger", {"h", "q"}, {"logits"})}, {with_data("q", kU8, {2, 3}, kTransposed)}),
      "has no float scales in the file");
}

void expect_no_embedding(const Opened& opened, std::string_view piece) {
  ASSERT_FALSE(opened.plan.ok()) << piece;
  EXPECT_EQ(opened.plan.status().code(), Code::kUnsupported);
  EXPECT_THAT(opened.plan.status().message(), HasSubstr("m.onnx: the embedding cannot be read: tensor 'q' "));
  EXPECT_THAT(opened.plan.status().message(), HasSubstr(piece));
}

TEST(OnnxTables, RefusesAnEmbeddingByName) {
  const std::vector<Proto> gather = lookup_of({"q", "input_ids", "s", "z"});
  const Proto scales = floats("s", {3, 3}, kNineOnes);
  const Proto bytes = with_data("q", kU8, {3, 24}, filled(72, 0xAA));
  expect_no_embedding(open(gather, {bytes, scales, with_data("z", kU8, {3, 3}, filled(9, 1))}),
                      "has 9 bytes of zero points, but 6 belong to 3 rows of 3 blocks");
  expect_no_embedding(open(gather, {with_data("q", kU4, {3, 48}, filled(72, 1)), scales,
                                    with_data("z", kI4, {3, 3}, filled(5, 1))}),
                      "has zero points of another type than its integers");
  expect_no_embedding(open(lookup_of({"q", "input_ids", "s"}),
                           {with_data("q", kU4, {3, 47}, filled(71, 1)), floats("s", {3, 3}, kNineOnes)}),
                      "packs its integers across rows");
  expect_no_embedding(
      open(lookup_of({"q", "input_ids", "s"}),
           {with_data("q", static_cast<Type>(17), {3, 48}, filled(144, 1)), floats("s", {3, 3}, kNineOnes)}),
      "holds F8_E4M3 values with scales");
}

}  // namespace
}  // namespace id2vec

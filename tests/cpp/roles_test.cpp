// Roles that a graph states, over directories made by hand; inline bytes; what happens when a hint leads nowhere.
#include "model/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace id2vec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Tying = ModelPlan::Tying;

Tensor tensor(const char* name, const char* dtype, std::vector<uint64_t> shape, uint64_t offset = 0) {
  Tensor made;
  made.name = name;
  made.dtype = dtype_by_name(dtype);
  made.shape = std::move(shape);
  made.offset = offset;
  made.bytes = made.elements() * made.dtype->block_bytes;
  return made;
}

ModelPlan plan_with(std::vector<Tensor> tensors, std::vector<RoleHint> hints = {}) {
  ModelPlan plan;
  plan.directory.container = "ONNX";
  plan.directory.files = {"m.onnx"};
  plan.directory.tensors = std::move(tensors);
  plan.directory.hints = std::move(hints);
  return plan;
}

RoleHint hint(const char* role, const char* tensor) {
  RoleHint made;
  made.role = role;
  made.tensor = tensor;
  return made;
}

TEST(Hints, BeatNames) {
  ModelPlan plan =
      plan_with({tensor("wte.weight", "F32", {6, 4}), tensor("onnx::Gather_7", "F32", {8, 4}, 96)},
                {hint("embedding", "onnx::Gather_7")});
  ASSERT_TRUE(resolve_roles({}, plan).ok());
  EXPECT_EQ(plan.roles[0].source.name, "onnx::Gather_7");
  ModelPlan chosen = plan_with({tensor("wte.weight", "F32", {6, 4}), tensor("x", "F32", {8, 4}, 96)},
                               {hint("embedding", "x")});
  ASSERT_TRUE(resolve_roles({.tensor = "wte.weight"}, chosen).ok());
  EXPECT_EQ(chosen.roles[0].source.name, "wte.weight");
}

TEST(Hints, ThatLeadNowhereAreWarnings) {
  ModelPlan plan = plan_with({tensor("wte.weight", "F32", {6, 4}), tensor("wpe.weight", "F32", {3, 4}, 96)},
                             {hint("positions", "gone")});
  ASSERT_TRUE(resolve_roles({}, plan).ok());
  EXPECT_EQ(plan.find("positions")->source.name, "wpe.weight");
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_THAT(plan.warnings[0], HasSubstr("the graph speaks of tensor 'gone', which the file does not hold"));
}

// Where the graph is sure of the two tables, a name does not overrule it.
TEST(Hints, ThatLeadNowhereAreErrorsForTheTables) {
  ModelPlan plan = plan_with({tensor("wte.weight", "F32", {6, 4})}, {hint("embedding", "gone")});
  EXPECT_THAT(resolve_roles({}, plan).message(),
              HasSubstr("the embedding cannot be read: the graph speaks of"));
  ModelPlan chosen = plan_with({tensor("wte.weight", "F32", {6, 4})}, {hint("embedding", "gone")});
  EXPECT_TRUE(resolve_roles({.tensor = "wte.weight"}, chosen).ok());
  ModelPlan head = plan_with({tensor("e", "F32", {6, 4}), tensor("lm_head.weight", "F32", {6, 4}, 96)},
                             {hint("embedding", "e"), hint("head", "gone")});
  ASSERT_TRUE(resolve_roles({}, head).ok());
  EXPECT_EQ(head.tying, Tying::kUntied);
  EXPECT_EQ(head.find("head"), nullptr);
  EXPECT_THAT(head.head_problem, HasSubstr("there are no logits: the graph speaks of tensor 'gone'"));
}

TEST(Hints, TurnATransposedHead) {
  RoleHint head = hint("head", "m");
  head.transposed = true;
  ModelPlan plan =
      plan_with({tensor("e", "F32", {6, 4}), tensor("m", "F32", {4, 6}, 96)}, {hint("embedding", "e"), head});
  ASSERT_TRUE(resolve_roles({}, plan).ok());
  const TableSource& source = plan.find("head")->source;
  EXPECT_EQ(source.conversion, Conversion::kStrided);
  EXPECT_EQ(source.spec.rows, 6u);
  EXPECT_EQ(source.spec.cols, 4u);
  EXPECT_EQ(source.layout.row_stride, 1u);
  EXPECT_EQ(source.layout.col_stride, 6u);
  EXPECT_EQ(plan.tying, Tying::kCompare);
  // Square matrices are turned as well: the graph knows, the shape does not.
  ModelPlan square =
      plan_with({tensor("e", "F32", {4, 4}), tensor("m", "F32", {4, 4}, 64)}, {hint("embedding", "e"), head});
  ASSERT_TRUE(resolve_roles({}, square).ok());
  EXPECT_EQ(square.find("head")->source.conversion, Conversion::kStrided);
}

TEST(Hints, NameTheSameTensorForBothEnds) {
  ModelPlan plan = plan_with({tensor("e", "F32", {6, 4})}, {hint("embedding", "e"), hint("head", "e")});
  ASSERT_TRUE(resolve_roles({}, plan).ok());
  EXPECT_EQ(plan.tying, Tying::kShared);
  EXPECT_EQ(plan.roles.size(), 1u);
}

// [6, 64] weights of 4 bits in groups of 32: 32 bytes of quants, 2 scales and 1 byte of zero points per row.
RoleHint four_bits() {
  RoleHint made = hint("embedding", "q");
  made.scales = "s";
  made.rows = 6;
  made.cols = 64;
  made.bits = 4;
  made.group_size = 32;
  made.zero_point = 8;
  return made;
}

TEST(Hints, DescribeQuantizedTables) {
  RoleHint plain = four_bits(), with_points = four_bits();
  with_points.zero_points = "z";
  const std::vector<Tensor> tensors = {tensor("q", "U8", {6, 32}), tensor("s", "F16", {6, 2}, 192),
                                       tensor("z", "U8", {6, 1}, 216)};
  ModelPlan plan = plan_with(tensors, {plain});
  ASSERT_TRUE(resolve_roles({}, plan).ok());
  const TableSource& source = plan.roles[0].source;
  EXPECT_EQ(source.spec.dtype->name, "AFFINE_4");
  EXPECT_EQ(source.spec.rows, 6u);
  EXPECT_EQ(source.spec.cols, 64u);
  EXPECT_EQ(source.spec.affine.zero_point, 8);
  EXPECT_EQ(source.spec.affine.scale_type, ScaleType::kF16);
  ASSERT_EQ(source.segments.size(), 2u);
  EXPECT_EQ(source.segments[1].plane, 1u);
  EXPECT_EQ(source.segments[1].offset, 192u);
  ModelPlan other = plan_with(tensors, {with_points});
  ASSERT_TRUE(resolve_roles({}, other).ok());
  EXPECT_EQ(other.roles[0].source.spec.affine.offsets, Offsets::kZeroPoints);
  EXPECT_EQ(other.roles[0].source.segments.size(), 3u);
}

TEST(Hints, AreHeldAgainstTheBytesOfTheirTensors) {
  const auto problem = [](RoleHint hint, std::vector<Tensor> tensors) {
    ModelPlan plan = plan_with(std::move(tensors), {std::move(hint)});
    const Status status = resolve_roles({.tensor = "q"}, plan);
    EXPECT_FALSE(status.ok());
    return status.message();
  };
  RoleHint more_rows = four_bits(), wide = four_bits(), odd = four_bits(), turned = four_bits();
  more_rows.rows = 7;
  wide.cols = uint64_t{1} << 40;
  odd.bits = 5;
  turned.transposed = true;
  const std::vector<Tensor> tensors = {tensor("q", "U8", {6, 32}), tensor("s", "F16", {6, 2}, 192)};
  EXPECT_THAT(problem(more_rows, tensors), HasSubstr("'q' has 192 bytes, but 7 rows of 32 bytes"));
  EXPECT_THAT(problem(wide, tensors), HasSubstr("has rows of 1099511627776 weights, the limit is"));
  EXPECT_THAT(problem(odd, tensors), HasSubstr("has 5 bits per weight"));
  EXPECT_THAT(problem(turned, tensors), HasSubstr("which is not read for quantized tables"));
  EXPECT_THAT(problem(four_bits(), {tensors[0]}), HasSubstr("'s', which the file does not hold"));
  EXPECT_THAT(problem(four_bits(), {tensors[0], tensor("s", "F64", {6, 2}, 192)}),
              HasSubstr("only F32, F16 and BF16"));
  EXPECT_THAT(problem(four_bits(), {tensors[0], tensor("s", "F16", {6, 3}, 192)}),
              HasSubstr("'s' has 36 bytes, but 6 rows of 4 bytes"));
}

TEST(Inline, BytesOfTheHeaderNeedNoReading) {
  Tensor table = tensor("e", "F32", {2, 2});
  for (const float value : {1.0f, 2.0f, 3.0f, 4.0f}) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    table.inline_bytes.insert(table.inline_bytes.end(), bytes, bytes + sizeof value);
  }
  const auto second_row = [&](bool transposed) {
    RoleHint embedding = hint("embedding", "e");
    embedding.transposed = transposed;
    ModelPlan plan = plan_with({table}, {embedding});
    EXPECT_TRUE(resolve_roles({}, plan).ok());
    const TableSource& source = plan.roles[0].source;
    EXPECT_TRUE(source.segments.empty());
    EXPECT_EQ(source.bytes(), 0u);
    std::unique_ptr<Table> made = std::move(Table::allocate(source.spec, *kernel_table("scalar")).value());
    write_inline(source, *made);
    std::vector<float> row(2);
    const uint32_t id = 1;
    EXPECT_TRUE(made->lookup(std::span(&id, 1), row).ok());
    return row;
  };
  EXPECT_THAT(second_row(false), ElementsAre(3, 4));
  EXPECT_THAT(second_row(true), ElementsAre(2, 4));
  table.inline_bytes.pop_back();
  ModelPlan shorter = plan_with({table}, {hint("embedding", "e")});
  EXPECT_THAT(resolve_roles({.tensor = "e"}, shorter).message(),
              HasSubstr("'e' has 15 bytes, but 2 rows of 8 bytes"));
}

TEST(Strided, ByteSwappedAndFortranOrderTablesAreConverted) {
  Tensor swapped = tensor("e", "F32", {6, 4}), fortran = tensor("e", "F16", {6, 4}),
         interleaved = tensor("e", "F32", {3, 2});
  swapped.big_endian = true;
  fortran.strides = {1, 6};
  interleaved.strides = {2, 3};
  ModelPlan one = plan_with({swapped}), two = plan_with({fortran}), three = plan_with({interleaved});
  ASSERT_TRUE(resolve_roles({}, one).ok());
  EXPECT_TRUE(one.roles[0].source.layout.swap_bytes);
  EXPECT_EQ(one.roles[0].source.layout.element_bytes, 4u);
  ASSERT_TRUE(resolve_roles({}, two).ok());
  EXPECT_EQ(two.roles[0].source.layout.col_stride, 6u);
  EXPECT_EQ(two.roles[0].source.layout.element_bytes, 2u);
  EXPECT_THAT(resolve_roles({}, three).message(), HasSubstr("the rows of tensor 'e' are interleaved"));
}

}  // namespace
}  // namespace id2vec

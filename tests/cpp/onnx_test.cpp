#include "containers/onnx.h"

#include <gtest/gtest.h>

#include "containers/protobuf.h"
#include "drive.h"
#include "onnx_builder.h"
#include "zip_builder.h"

namespace id2vec {
namespace {

using namespace onnx;

Result<Directory> read(const std::vector<uint8_t>& bytes, const Files& siblings = {},
                       Appetite appetite = as_little_as_possible) {
  Files files = siblings;
  files["m.onnx"] = bytes;
  return drive(files, "m.onnx", read_directory, appetite);
}
Result<Directory> read_tensor(const Proto& tensor, const Files& siblings = {}) {
  return read(model(graph({}, {tensor})), siblings);
}

void expect_failure(const Result<Directory>& result, Code code, std::string_view piece) {
  ASSERT_FALSE(result.ok()) << piece;
  EXPECT_EQ(result.status().code(), code) << result.status().message();
  EXPECT_NE(result.status().message().find(piece), std::string::npos) << result.status().message();
}

const RoleHint* hint(const Directory& directory, std::string_view role) {
  for (const RoleHint& each : directory.hints) {
    if (each.role == role) return &each;
  }
  return nullptr;
}

TEST(Protobuf, ReadsFieldsOfEveryWireType) {
  const std::string text = Proto().varint(1, 300).bytes(2, "abc").fixed32(3, 7).out;
  ProtoMessage message(Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.field().value, 300u);
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.text(), "abc");
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.field().value, 7u);
  EXPECT_FALSE(message.next());
  EXPECT_FALSE(message.broken());
}

TEST(Protobuf, RefusesBrokenFields) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"\x08"sv, "\x08\x80"sv, "\x00\x01"sv, "\x0B"sv, "\x0C"sv, "\x0E\x01"sv, "\x0A\x02x"sv,
        "\x0D\x01\x02\x03"sv, "\x09\x01"sv, "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"sv,
        "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"sv, "\xFF\xFF\xFF\xFF\xFF\x01\x01"sv}) {
    ProtoMessage message(Bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
    EXPECT_FALSE(message.next());
    EXPECT_TRUE(message.broken());
  }
}

TEST(Onnx, IsRecognisedByItsFields) {
  const std::vector<uint8_t> whole = model(graph({}, {raw_tensor("e", kF32, {1, 2}, 8)}));
  EXPECT_TRUE(is_onnx(whole, whole.size()));
  EXPECT_TRUE(is_onnx(Bytes(whole).first(12), whole.size()));
  for (const std::string_view text : {"", "28996 100\nthe 0.1 0.2", "the 0.1", "GGUF", "{\"a\": 1}", "<html>",
                                      "\x08\x08", "\x08\xFF\x7F:\x01x", ":\x01x"}) {
    const std::vector<uint8_t> bytes = bytes_of(text);
    EXPECT_FALSE(is_onnx(bytes, bytes.size())) << text;
  }
  EXPECT_FALSE(is_onnx(whole, 20)) << "a graph larger than the file";
}

TEST(Onnx, FindsRawDataWithoutReadingIt) {
  std::vector<Proto> tensors;
  for (int i = 0; i < 30; ++i)
    tensors.push_back(raw_tensor("w" + std::to_string(i), kF32, {100, 1000}, 400'000));
  const std::vector<uint8_t> whole = model(graph({node("Gather", {"w0", "input_ids"}, {"x"})}, tensors));
  uint64_t fetched = 0;
  const auto result =
      read(whole, {}, [&](const Want& want, uint64_t) { return fetched += want.suggested, want.suggested; });
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result.value().tensors.size(), 30u);
  EXPECT_LT(fetched, whole.size() / 10);
  const Tensor& last = result.value().tensors[29];
  EXPECT_EQ(whole[last.offset], 1);
  EXPECT_EQ(whole[last.offset + last.bytes - 1], 1);
  EXPECT_NE(whole[last.offset - 1], 1);
}

TEST(Onnx, DecodesHalvesInIntegerFields) {
  const auto packed =
      read_tensor(tensor("e", kF16, {2, 2}).bytes(5, std::string("\x80\x78\x01\xFF\xFF\x03\x00", 7)));
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  EXPECT_EQ(packed.value().tensors[0].inline_bytes,
            (std::vector<uint8_t>{0x00, 0x3C, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x00}));
  const auto single = read_tensor(tensor("e", kBF16, {2}).varint(5, 0x3F80).varint(5, 7));
  ASSERT_TRUE(single.ok()) << single.status().message();
  EXPECT_EQ(single.value().tensors[0].inline_bytes, (std::vector<uint8_t>{0x80, 0x3F, 0x07, 0x00}));
}

TEST(Onnx, TakesPackedFloatsAsARange) {
  const auto result = read_tensor(tensor("e", kF32, {2}).bytes(4, "12345678"));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result.value().tensors[0].inline_bytes.empty());
  EXPECT_EQ(result.value().tensors[0].bytes, 8u);
  const auto split = read_tensor(tensor("e", kF32, {3}).bytes(4, "12345678").fixed32(4, 0x41414141));
  ASSERT_TRUE(split.ok()) << split.status().message();
  EXPECT_EQ(split.value().tensors[0].inline_bytes, bytes_of("12345678AAAA"));
}

TEST(Onnx, RefusesElementsThatDoNotFitTheShape) {
  expect_failure(read_tensor(raw_tensor("e", kF32, {2, 2}, 15)), Code::kMalformed,
                 "15 bytes of raw_data, but its shape needs 16");
  expect_failure(read_tensor(tensor("e", kF16, {2}).varint(5, 1)), Code::kMalformed,
                 "more or fewer elements");
  expect_failure(read_tensor(tensor("e", kF16, {1}).bytes(5, "\x01\x01")), Code::kMalformed,
                 "more or fewer elements");
  expect_failure(read_tensor(tensor("e", kF16, {1}).bytes(5, "\xFF")), Code::kMalformed,
                 "broken integer field");
  expect_failure(read_tensor(tensor("e", kF32, {1}).bytes(4, "123")), Code::kMalformed, "broken float field");
  expect_failure(read_tensor(tensor("e", kF32, {1 << 20, 1 << 20})), Code::kMalformed, "no data for it");
  expect_failure(read_tensor(tensor("e", kF32, {1ull << 40, 1ull << 40})), Code::kMalformed, "64 bits");
  expect_failure(read_tensor(tensor("e", kF32, {~0ull})), Code::kMalformed, "64 bits");
  expect_failure(read_tensor(tensor("e", kF32, {1, 1, 1, 1, 1, 1, 1, 1, 1})), Code::kLimit,
                 "more than 8 dimensions");
}

TEST(Onnx, SkipsTypesThatItHasNot) {
  const auto result =
      read(model(graph({}, {tensor("s", kString, {1}).bytes(6, "x"), raw_tensor("e", kF32, {1, 2}, 8)})));
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result.value().skipped.size(), 1u);
  EXPECT_NE(result.value().skipped[0].find("'s' has the ONNX type 8"), std::string::npos);
  expect_failure(read_tensor(tensor("s", kString, {1})), Code::kUnsupported, "ONNX type 8");
  expect_failure(read(model(graph({}, {}))), Code::kUnsupported, "has no weights");
}

TEST(Onnx, FindsExternalData) {
  const auto result =
      read_tensor(external("e", "m.onnx_data", "8", "32"), {{"m.onnx_data", std::vector<uint8_t>(40)}});
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Tensor& tensor = result.value().tensors[0];
  EXPECT_EQ(result.value().files.at(tensor.file), "m.onnx_data");
  EXPECT_EQ(tensor.offset, 8u);
}

TEST(Onnx, RefusesExternalDataElsewhere) {
  const Files data = {{"d", std::vector<uint8_t>(40)}};
  for (const char* location : {"../d", "/d", "a/../../d", "C:\\d", "http://host/d", "d?x", ""}) {
    expect_failure(read_tensor(external("e", location, "0", "32"), data), Code::kMalformed,
                   "not a file beside the model");
  }
  expect_failure(read_tensor(external("e", "gone", "0", "32"), data), Code::kNotFound,
                 "'gone', which is missing");
  expect_failure(read_tensor(external("e", "d", "9", "32"), data), Code::kTruncated, "has only 40 bytes");
  expect_failure(read_tensor(external("e", "d", "18446744073709551615", "32"), data), Code::kTruncated,
                 "has only 40 bytes");
  expect_failure(read_tensor(external("e", "d", "18446744073709551616", "32"), data), Code::kMalformed,
                 "is no number");
  expect_failure(read_tensor(external("e", "d", "-1", "32"), data), Code::kMalformed, "is no number");
  expect_failure(read_tensor(external("e", "d", "0", "31"), data), Code::kMalformed, "its shape needs 32");
}

TEST(Onnx, RefusesBrokenMessages) {
  expect_failure(read_tensor(tensor("e", kF32, {1}).claim(9, 1ull << 60)), Code::kMalformed,
                 "claims 1152921504606846976 bytes");
  Proto cut = tensor("e", kF32, {1});
  cut.out += '\x4A';
  expect_failure(read_tensor(cut), Code::kMalformed, "broken protocol buffer");
  Proto nested = graph({}, {raw_tensor("e", kF32, {1}, 4)});
  for (int i = 0; i < 12; ++i)
    nested = graph({node("If", {"c"}, {"x"}, {Proto().bytes(1, "then_branch").message(6, nested)})}, {});
  expect_failure(read(model(nested)), Code::kLimit, "nested more than 8 deep");
}

TEST(Onnx, RefusesEveryTruncation) {
  const std::vector<uint8_t> whole =
      model(graph({node("Gather", {"e", "input_ids"}, {"x"})}, {raw_tensor("e", kF32, {4, 2}, 32)}));
  for (size_t length = 1; length < whole.size(); ++length) {
    const auto result = read({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)});
    // What follows the graph is not needed; a cut between two fields leaves a smaller message.
    if (result.ok()) EXPECT_GT(length, whole.size() - 6) << length;
  }
}

TEST(OnnxRoles, GatherIsTheEmbeddingAndMatMulTheTransposedHead) {
  const auto result =
      read(model(graph({node("Cast", {"input_ids"}, {"i"}), node("Gather", {"e", "i"}, {"x"}),
                        node("MatMul", {"h", "w"}, {"m"}), node("Add", {"m", "b"}, {"logits"})},
                       {raw_tensor("e", kF32, {6, 4}, 96), raw_tensor("w", kF32, {4, 6}, 96),
                        raw_tensor("b", kF32, {6}, 24)})));
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Directory& directory = result.value();
  EXPECT_EQ(directory.hints.at(0).role, "embedding");
  EXPECT_EQ(directory.hints[0].tensor, "e");
  const RoleHint* head = hint(directory, "head");
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->tensor, "w");
  EXPECT_TRUE(head->transposed);
  EXPECT_EQ(head->rows, 6u);
  EXPECT_EQ(head->cols, 4u);
  ASSERT_NE(hint(directory, "head_bias"), nullptr);
  EXPECT_EQ(hint(directory, "head_bias")->tensor, "b");
}

TEST(OnnxRoles, GemmWithTransBIsTied) {
  const auto result = read(model(graph({node("Gather", {"e", "input_ids"}, {"x"}),
                                        node("Gemm", {"h", "e", "b"}, {"logits"}, {attribute("transB", 1)})},
                                       {raw_tensor("e", kF32, {6, 4}, 96), raw_tensor("b", kF32, {6}, 24)})));
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_NE(hint(result.value(), "head"), nullptr);
  EXPECT_EQ(hint(result.value(), "head")->tensor, "e");
  EXPECT_FALSE(hint(result.value(), "head")->transposed);
  EXPECT_NE(hint(result.value(), "head_bias"), nullptr);
}

TEST(OnnxRoles, AClassifierIsNoHead) {
  const auto result =
      read(model(graph({node("Gather", {"e", "input_ids"}, {"x"}), node("MatMul", {"h", "w"}, {"logits"})},
                       {raw_tensor("e", kF32, {60, 4}, 960), raw_tensor("w", kF32, {4, 2}, 32)})));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(hint(result.value(), "head"), nullptr);
}

TEST(OnnxRoles, BertHasPositionsTypesAndANorm) {
  const auto result = read(model(graph(
      {node("Gather", {"e", "input_ids"}, {"x"}), node("Gather", {"t", "token_type_ids"}, {"y"}),
       node("Gather", {"p", "position_ids"}, {"z"}), node("Add", {"x", "y"}, {"xy"}),
       node("Add", {"xy", "z"}, {"xyz"}), node("LayerNormalization", {"xyz", "g", "b"}, {"out"})},
      {raw_tensor("e", kF32, {6, 4}, 96), raw_tensor("t", kF32, {2, 4}, 32),
       raw_tensor("p", kF32, {5, 4}, 80), raw_tensor("g", kF32, {4}, 16), raw_tensor("b", kF32, {4}, 16)})));
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (const auto& [role, name] : {std::pair{"embedding", "e"},
                                   {"token_types", "t"},
                                   {"positions", "p"},
                                   {"norm_weight", "g"},
                                   {"norm_bias", "b"}}) {
    ASSERT_NE(hint(result.value(), role), nullptr) << role;
    EXPECT_EQ(hint(result.value(), role)->tensor, name);
  }
  EXPECT_FLOAT_EQ(static_cast<float>(result.value().number("norm_epsilon", 0)), 1e-5f);
}

// In GPT-2 a block takes the sum twice, once through its norm: that norm is not the embedding's.
TEST(OnnxRoles, ANormBesideAResidualPathIsNotTheEmbeddings) {
  const auto result = read(model(graph(
      {node("Gather", {"e", "input_ids"}, {"x"}), node("LayerNormalization", {"x", "g", "b"}, {"n"}),
       node("Add", {"x", "n"}, {"r"})},
      {raw_tensor("e", kF32, {6, 4}, 96), raw_tensor("g", kF32, {4}, 16), raw_tensor("b", kF32, {4}, 16)})));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(hint(result.value(), "norm_weight"), nullptr);
}

TEST(OnnxRoles, BlocksOfFourBits) {
  const std::vector<Proto> attributes = {attribute("bits", 4), attribute("block_size", 16), attribute("N", 4),
                                         attribute("K", 32)};
  const std::vector<Proto> tensors = {raw_tensor("q", kU8, {4, 16}, 64), raw_tensor("b", kU8, {4, 2, 8}, 64),
                                      raw_tensor("s", kF32, {4, 2}, 32), raw_tensor("z", kU8, {4, 1}, 4)};
  const auto result =
      read(model(graph({node("GatherBlockQuantized", {"q", "input_ids", "s", "z"}, {"x"}, attributes),
                        node("MatMulNBits", {"h", "b", "s"}, {"logits"}, attributes)},
                       tensors)));
  ASSERT_TRUE(result.ok()) << result.status().message();
  const RoleHint *embedding = hint(result.value(), "embedding"), *head = hint(result.value(), "head");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->bits, 4u);
  EXPECT_EQ(embedding->cols, 32u);
  EXPECT_EQ(embedding->group_size, 16u);
  EXPECT_EQ(embedding->zero_points, "z");
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->tensor, "b");
  EXPECT_EQ(head->zero_points, "");
  EXPECT_EQ(head->zero_point, 8);
}

TEST(OnnxRoles, BlocksOfTheFourBitTypesHaveNoDefaultZeroPoint) {
  const auto result = read(model(
      graph({node("GatherBlockQuantized", {"q", "input_ids", "s"}, {"x"}, {attribute("block_size", 16)})},
            {raw_tensor("q", kI4, {4, 32}, 64), raw_tensor("s", kF16, {4, 2}, 16)})));
  ASSERT_TRUE(result.ok()) << result.status().message();
  const RoleHint* embedding = hint(result.value(), "embedding");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->zero_point, 0);
  EXPECT_TRUE(embedding->is_signed);
  EXPECT_EQ(embedding->cols, 32u);
}

TEST(OnnxRoles, ScalesThatDoNotFitMakeNoTable) {
  const std::vector<Proto> attributes = {attribute("bits", 4), attribute("block_size", 16)};
  for (const auto& [scales, zeros] : {std::pair{3, 4}, {4, 5}}) {
    const auto result =
        read(model(graph({node("GatherBlockQuantized", {"q", "input_ids", "s", "z"}, {"x"}, attributes)},
                         {raw_tensor("q", kU8, {4, 16}, 64),
                          raw_tensor("s", kF32, {static_cast<uint64_t>(scales), 2}, scales * 8),
                          raw_tensor("z", kU8, {static_cast<uint64_t>(zeros), 1}, zeros)})));
    ASSERT_TRUE(result.ok()) << result.status().message();
    ASSERT_NE(hint(result.value(), "embedding"), nullptr);
    EXPECT_NE(hint(result.value(), "embedding")->problem, "");
  }
}

TEST(OnnxRoles, DequantizesBeforeAndAfterTheGather) {
  const std::vector<Proto> tensors = {raw_tensor("q", kU8, {4, 2}, 8), raw_tensor("s", kF32, {}, 4),
                                      raw_tensor("z", kU8, {}, 1), raw_tensor("rows", kF32, {4}, 16)};
  const auto after = read(model(
      graph({node("Gather", {"q", "input_ids"}, {"g"}), node("DequantizeLinear", {"g", "s", "z"}, {"x"})},
            tensors)));
  const auto before = read(model(
      graph({node("DequantizeLinear", {"q", "s", "z"}, {"d"}), node("Gather", {"d", "input_ids"}, {"x"})},
            tensors)));
  for (const auto* result : {&after, &before}) {
    ASSERT_TRUE(result->ok()) << result->status().message();
    const RoleHint* embedding = hint(result->value(), "embedding");
    ASSERT_NE(embedding, nullptr);
    EXPECT_TRUE(embedding->per_tensor);
    EXPECT_EQ(embedding->bits, 8u);
    EXPECT_EQ(embedding->zero_points, "z");
  }
  const auto per_row =
      read(model(graph({node("DequantizeLinear", {"q", "rows"}, {"d"}, {attribute("axis", 0)}),
                        node("Gather", {"d", "input_ids"}, {"x"})},
                       tensors)));
  ASSERT_TRUE(per_row.ok());
  ASSERT_NE(hint(per_row.value(), "embedding"), nullptr);
  EXPECT_FALSE(hint(per_row.value(), "embedding")->per_tensor);
  EXPECT_EQ(hint(per_row.value(), "embedding")->group_size, 0u);
}

TEST(OnnxRoles, LooksIntoTheBranchesOfIf) {
  const Proto branch =
      graph({node("Gather", {"e", "input_ids"}, {"x"}), node("MatMul", {"h", "w"}, {"logits"})}, {});
  const auto result =
      read(model(graph({node("If", {"c"}, {"out"}, {Proto().bytes(1, "else_branch").message(6, branch)})},
                       {raw_tensor("e", kF32, {6, 4}, 96), raw_tensor("w", kF32, {4, 6}, 96)})));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_NE(hint(result.value(), "embedding"), nullptr);
  EXPECT_NE(hint(result.value(), "head"), nullptr);
}

}  // namespace
}  // namespace id2vec

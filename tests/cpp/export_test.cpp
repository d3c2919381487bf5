// quantize → export → open again: the rows that come back are those that went out.
#include "tools/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drive.h"
#include "model/model.h"
#include "random_table.h"
#include "tools/quantize.h"

namespace id2vec {
namespace {

using testing::HasSubstr;

const KernelTable& kernels() { return *kernel_table("scalar"); }

std::unique_ptr<Table> normal_table(uint64_t rows, uint32_t cols) {
  auto table = std::move(Table::allocate({dtype_by_name("F32"), rows, cols, {}}, kernels()).value());
  const std::vector<float> values = random_floats(rows * cols, 5);
  std::memcpy(table->plane(0).data(), values.data(), values.size() * sizeof(float));
  return table;
}

Directory source_with_vocabulary() {
  Directory source;
  source.metadata["config.model_type"] = std::string("llama");
  source.metadata["__metadata__.format"] = std::string("pt");
  source.vocabulary.text = "abc";
  source.vocabulary.offsets = {0, 1, 2, 3};
  return source;
}

std::vector<uint8_t> bytes_of(const Export& exported) { return assemble(exported.layout, exported.pieces); }

struct Opened {
  ModelPlan plan;
  std::unique_ptr<Table> table;
};

Opened open(const std::string& name, const std::vector<uint8_t>& file) {
  const auto read = [](FileSet& files) { return open_model(files, {}); };
  Result<ModelPlan> plan = drive({{name, file}}, name, read);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  const TableSource& source = plan.value().find("embedding")->source;
  auto table = std::move(Table::allocate(source.spec, kernels()).value());
  for (const Segment& segment : source.segments) {
    std::memcpy(table->plane(segment.plane).data() + segment.target, file.data() + segment.offset,
                segment.bytes);
  }
  write_inline(source, *table);
  return {std::move(plan.value()), std::move(table)};
}

std::vector<float> rows_of(const Table& table) {
  std::vector<uint32_t> ids(table.spec().rows);
  for (uint32_t i = 0; i < ids.size(); ++i) ids[i] = i;
  std::vector<float> rows(ids.size() * table.spec().cols);
  EXPECT_TRUE(table.lookup(ids, rows).ok());
  return rows;
}

TEST(Export, QuantizedTablesComeBackFromGguf) {
  const auto source = normal_table(3, 256);
  for (const char* dtype : {"F32", "F16", "Q8_0", "Q4_K", "Q6_K", "IQ4_NL", "AFFINE_8"}) {
    SCOPED_TRACE(dtype);
    const auto quantized = std::move(quantize_table(*source, *dtype_by_name(dtype)).value());
    const NamedTable named[] = {{"token_embd.weight", quantized.get()}};
    const auto exported = export_tables(Container::kGguf, source_with_vocabulary(), named);
    ASSERT_TRUE(exported.ok()) << exported.status().message();
    const Opened opened = open("m.gguf", bytes_of(exported.value()));
    EXPECT_EQ(opened.table->spec().dtype->name, dtype);
    EXPECT_EQ(rows_of(*opened.table), rows_of(*quantized));
    EXPECT_EQ(opened.plan.directory.vocabulary.text, "abc");
    EXPECT_EQ(opened.plan.profile.architecture, "llama");
  }
}

// Which container a format of blocks goes into: GGUF where it has a number there, safetensors where a block is one
// weight. Every format has a home, and comes back from each of them bit for bit.
TEST(Export, EveryFormatComesBackFromItsContainers) {
  size_t in_gguf = 0, in_safetensors = 0;
  Formats::for_each([&]<class F>() {
    if constexpr (Format<F>) {
      const auto table = random_table<F>(kernels(), 3, 512);
      const NamedTable named[] = {{"token_embd.weight", table.get()}};
      const auto expect_back = [&](Container container, const std::string& file) {
        SCOPED_TRACE(file + " " + std::string(F::kName));
        const auto exported = export_tables(container, source_with_vocabulary(), named);
        ASSERT_TRUE(exported.ok()) << exported.status().message();
        const Opened opened = open(file, bytes_of(exported.value()));
        EXPECT_EQ(opened.table->spec().dtype->name, F::kName);
        EXPECT_EQ(opened.table->spec().rows, 3u);
        const std::vector<float> sent = rows_of(*table), back = rows_of(*opened.table);
        EXPECT_EQ(std::memcmp(sent.data(), back.data(), sent.size() * sizeof(float)), 0);
      };
      if (F::kGgmlType >= 0) expect_back(Container::kGguf, "m.gguf"), ++in_gguf;
      if (F::kBlockSize == 1) expect_back(Container::kSafetensors, "m.safetensors"), ++in_safetensors;
      EXPECT_TRUE(F::kGgmlType >= 0 || F::kBlockSize == 1) << F::kName;
    }
  });
  EXPECT_EQ(in_gguf, 30u);
  EXPECT_EQ(in_safetensors, 6u);
}

TEST(Export, RowInt8ComesBackFromSafetensors) {
  const auto source = normal_table(5, 33);
  const auto quantized = std::move(quantize_table(*source, *dtype_by_name("AFFINE_8")).value());
  const NamedTable named[] = {{"model.embed_tokens.weight", quantized.get()}};
  const auto exported = export_tables(Container::kSafetensors, source_with_vocabulary(), named);
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  ASSERT_EQ(exported.value().directory.tensors.size(), 2u);
  EXPECT_EQ(exported.value().directory.tensors[1].name, "model.embed_tokens.weight_scale");
  const Opened opened = open("m.safetensors", bytes_of(exported.value()));
  EXPECT_EQ(rows_of(*opened.table), rows_of(*quantized));
  EXPECT_EQ(opened.plan.directory.text("__metadata__.format", ""), "pt");
}

TEST(Export, VectorsHaveOneDimension) {
  const auto table = normal_table(3, 8);
  const auto norm = normal_table(1, 8);
  const NamedTable named[] = {{"token_embd.weight", table.get()}, {"output_norm.weight", norm.get(), true}};
  const auto exported = export_tables(Container::kGguf, {}, named);
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(exported.value().directory.tensors[1].shape, (std::vector<uint64_t>{8}));
  EXPECT_EQ(exported.value().directory.text("general.architecture", ""), "embedding");
}

TEST(Export, WritesIntegersAsTheyAre) {
  const auto table = normal_table(3, 8);
  const NamedTable named[] = {{"embeddings", table.get()}};
  const std::vector<uint8_t> rows = {2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0};
  const NamedIntegers mapping[] = {{"mapping", dtype_by_name("I32"), 4, rows}};
  for (const Container container : {Container::kGguf, Container::kSafetensors}) {
    const auto exported = export_tables(container, {}, named, mapping);
    ASSERT_TRUE(exported.ok()) << exported.status().message();
    const std::vector<uint8_t> file = bytes_of(exported.value());
    const Opened opened = open(container == Container::kGguf ? "m.gguf" : "m.safetensors", file);
    const Role* role = opened.plan.find("mapping");
    ASSERT_NE(role, nullptr);
    EXPECT_EQ(role->source.spec.dtype->name, "I32");
    const Segment& segment = role->source.segments.at(0);
    EXPECT_EQ(std::vector<uint8_t>(file.begin() + static_cast<ptrdiff_t>(segment.offset),
                                   file.begin() + static_cast<ptrdiff_t>(segment.offset + segment.bytes)),
              rows);
  }
  const NamedIntegers unsigned_mapping[] = {{"mapping", dtype_by_name("U32"), 4, rows}};
  EXPECT_THAT(export_tables(Container::kGguf, {}, named, unsigned_mapping).status().message(),
              HasSubstr("The dtype U32 of 'mapping' has no number in GGUF"));
  const NamedIntegers too_many[] = {{"mapping", dtype_by_name("I64"), 4, rows}};
  EXPECT_EQ(export_tables(Container::kGguf, {}, named, too_many).status().code(), Code::kInvalidArgument);
}

TEST(Export, SaysWhatItCannotWrite) {
  const auto packed = random_table<Affine4>(kernels(), 3, 64);
  const NamedTable planar[] = {{"x", packed.get()}};
  EXPECT_EQ(export_tables(Container::kSafetensors, {}, planar).status().code(), Code::kUnsupported);
  const auto blocks = random_table<Q8_0>(kernels(), 3, 64);
  const NamedTable named[] = {{"x", blocks.get()}};
  EXPECT_THAT(export_tables(Container::kSafetensors, {}, named).status().message(), HasSubstr("Q8_0"));
}

}  // namespace
}  // namespace id2vec

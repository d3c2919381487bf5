// docs/formats.md says which container brings which format. Every cell of its table is a small file that is made here,
// opened, and compared with what went in; the list of formats is the table's only source.
//
// ID2VEC_WRITE_DOCS=1 writes the table anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "corpus.h"
#include "drive.h"
#include "model/model.h"
#include "onnx_builder.h"
#include "pickle_builder.h"
#include "table/table.h"
#include "tools/encoders.h"
#include "tools/gguf_writer.h"
#include "tools/safetensors_writer.h"

namespace id2vec {
namespace {

constexpr uint64_t kRows = 4, kCols = 512;

// The planes of a table [4, 512]: quants or whole blocks, scales, offsets.
struct Planes {
  std::vector<uint8_t> quants, scales, offsets;
};

std::vector<uint8_t> counted(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = uint8_t(i * 7 + i / 251);
  return bytes;
}

uint32_t bits_of(const Dtype& dtype) { return dtype.block_bytes * 8 / dtype.block_size; }

size_t quant_bytes(const Dtype& dtype) { return kRows * kCols / dtype.block_size * dtype.block_bytes; }

struct Sample {
  Files files;  // the first name is the root's
  std::string root;
  Planes planes;
};

// Nothing where the container has no such format.
using Make = std::optional<Sample> (*)(const Dtype& dtype);

Sample sample_of(const std::string& root, std::vector<uint8_t> file, Planes planes) {
  return {{{root, std::move(file)}}, root, std::move(planes)};
}

// Tensors in one file of a container that has a writer.
std::vector<uint8_t> written(const std::vector<std::pair<std::string, std::string_view>>& tensors,
                             const std::vector<std::vector<uint64_t>>& shapes,
                             const std::vector<std::vector<uint8_t>>& data, bool gguf) {
  Directory directory;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor tensor;
    tensor.name = tensors[i].first;
    tensor.dtype = dtype_by_name(tensors[i].second);
    tensor.shape = shapes[i];
    directory.tensors.push_back(std::move(tensor));
  }
  if (gguf) directory.metadata["general.architecture"] = std::string("llama");
  const FileLayout layout = (gguf ? gguf_layout(directory) : safetensors_layout(directory)).value();
  return assemble(layout, std::vector<Bytes>(data.begin(), data.end()));
}

// Signed bytes with a scale per row, as two tensors.
Sample row_int8(const std::string& root, bool gguf) {
  Planes planes{counted(kRows * kCols), counted(kRows * 4), {}};
  auto file = written({{"token_embd.weight", "I8"}, {"token_embd.weight_scale", "F32"}},
                      {{kRows, kCols}, {kRows, 1}}, {planes.quants, planes.scales}, gguf);
  return sample_of(root, std::move(file), std::move(planes));
}

std::optional<Sample> in_gguf(const Dtype& dtype) {
  if (dtype.name == "AFFINE_8") return row_int8("m.gguf", true);
  if (dtype.ggml_type < 0) return std::nullopt;
  Planes planes{counted(quant_bytes(dtype)), {}, {}};
  auto file = written({{"token_embd.weight", dtype.name}}, {{kRows, kCols}}, {planes.quants}, true);
  return sample_of("m.gguf", std::move(file), std::move(planes));
}

// As MLX quantizes: 32-bit words, scales and biases beside, bits and group size in config.json.
Sample mlx(const Dtype& dtype) {
  Planes planes{counted(quant_bytes(dtype)), counted(kRows * kCols / 64 * 2),
                counted(kRows * kCols / 64 * 2)};
  auto file = written({{"model.embed_tokens.weight", "U32"},
                       {"model.embed_tokens.scales", "F16"},
                       {"model.embed_tokens.biases", "F16"}},
                      {{kRows, kCols * bits_of(dtype) / 32}, {kRows, kCols / 64}, {kRows, kCols / 64}},
                      {planes.quants, planes.scales, planes.offsets}, false);
  Sample sample = sample_of("m.safetensors", std::move(file), std::move(planes));
  sample.files["config.json"] =
      bytes_of("{\"quantization\": {\"group_size\": 64, \"bits\": " + std::to_string(bits_of(dtype)) + "}}");
  return sample;
}

std::optional<Sample> in_safetensors(const Dtype& dtype) {
  if (dtype.planar) return mlx(dtype);
  if (dtype.block_size != 1) return std::nullopt;
  Planes planes{counted(quant_bytes(dtype)), {}, {}};
  auto file = written({{"token_embd.weight", dtype.name}}, {{kRows, kCols}}, {planes.quants}, false);
  return sample_of("m.safetensors", std::move(file), std::move(planes));
}

// The name that a container has for a dtype.
struct Name {
  std::string_view dtype, name;
};

template <size_t n>
std::optional<std::string_view> name_in(const Name (&names)[n], const Dtype& dtype) {
  for (const Name& each : names) {
    if (each.dtype == dtype.name) return each.name;
  }
  return std::nullopt;
}

std::optional<Sample> in_torch(const Dtype& dtype) {
  constexpr Name kStorages[] = {
      {"F32", "FloatStorage"}, {"F16", "HalfStorage"}, {"BF16", "BFloat16Storage"}, {"F64", "DoubleStorage"}};
  constexpr Name kTypes[] = {{"F8_E4M3", "float8_e4m3fn"}, {"F8_E5M2", "float8_e5m2"}};
  const auto storage = name_in(kStorages, dtype), type = name_in(kTypes, dtype);
  if (!storage && !type) return std::nullopt;
  Planes planes{counted(quant_bytes(dtype)), {}, {}};
  PickleBuilder pickle;
  pickle.op("}").text("tok_embeddings.weight");
  if (storage) {
    pickle.tensor(*storage, "0", kRows * kCols, 0, {kRows, kCols}, {kCols, 1}).op("s");
  } else {
    // Types newer than storage classes: _rebuild_tensor_v3(untyped storage, 0, shape, strides, False, {}, dtype)
    pickle.global("torch._utils", "_rebuild_tensor_v3").op("((").text("storage");
    pickle.global("torch.storage", "UntypedStorage")
        .text("0")
        .text("cpu")
        .number(kRows * kCols)
        .op("tQ")
        .number(0);
    pickle.numbers({kRows, kCols})
        .numbers({kCols, 1})
        .op("\x89")
        .global("collections", "OrderedDict")
        .op(")R");
    pickle.global("torch", *type).op("tRs");
  }
  return sample_of("m.pt", torch_zip(pickle.stop(), {{"0", planes.quants}}).build(), std::move(planes));
}

std::optional<Sample> in_npy(const Dtype& dtype) {
  constexpr Name kDescriptions[] = {{"F32", "<f4"}, {"F16", "<f2"}, {"F64", "<f8"}};
  const auto description = name_in(kDescriptions, dtype);
  if (!description) return std::nullopt;
  Planes planes{counted(quant_bytes(dtype)), {}, {}};
  const std::string header =
      "{'descr': '" + std::string(*description) + "', 'fortran_order': False, 'shape': (4, 512), }\n";
  ByteWriter file;
  file.raw("\x93NUMPY").put<uint8_t>(1).put<uint8_t>(0).put(uint16_t(header.size())).raw(header);
  file.raw(Bytes(planes.quants));
  return sample_of("m.npy", std::move(file.bytes), std::move(planes));
}

std::string text_of(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// Blocks of 16 with zero points, which GatherBlockQuantized takes from.
std::optional<Sample> onnx_blocks(const Dtype& dtype) {
  const uint32_t bits = bits_of(dtype);
  if (bits != 2 && bits != 4 && bits != 8) return std::nullopt;
  constexpr uint64_t kGroups = kCols / 16;
  Planes planes{counted(quant_bytes(dtype)), counted(kRows * kGroups * 4),
                counted(kRows * kGroups * bits / 8)};
  const auto tensor = [](std::string_view name, onnx::Type type, uint64_t width,
                         const std::vector<uint8_t>& data) {
    return onnx::tensor(name, type, {kRows, width}).bytes(9, text_of(data));
  };
  const Proto graph =
      onnx::graph({onnx::node("GatherBlockQuantized", {"q", "input_ids", "s", "z"}, {"x"},
                              {onnx::attribute("bits", bits), onnx::attribute("block_size", 16)})},
                  {tensor("q", onnx::kU8, kCols * bits / 8, planes.quants),
                   tensor("s", onnx::kF32, kGroups, planes.scales),
                   tensor("z", onnx::kU8, kGroups * bits / 8, planes.offsets)});
  return sample_of("m.onnx", onnx::model(graph), std::move(planes));
}

std::optional<Sample> in_onnx(const Dtype& dtype) {
  if (dtype.planar) return onnx_blocks(dtype);
  constexpr std::pair<std::string_view, int> kTypes[] = {{"F32", 1},   {"F16", 10},     {"F64", 11},
                                                         {"BF16", 16}, {"F8_E4M3", 17}, {"F8_E5M2", 19}};
  for (const auto& [name, type] : kTypes) {
    if (name != dtype.name) continue;
    Planes planes{counted(quant_bytes(dtype)), {}, {}};
    const Proto table =
        onnx::tensor("wte", onnx::Type(type), {kRows, kCols}).bytes(9, text_of(planes.quants));
    const Proto graph = onnx::graph({onnx::node("Gather", {"wte", "input_ids"}, {"x"})}, {table});
    return sample_of("m.onnx", onnx::model(graph), std::move(planes));
  }
  return std::nullopt;
}

struct Carrier {
  std::string_view name;
  Make make;
};
constexpr Carrier kCarriers[] = {{"GGUF", in_gguf},
                                 {"safetensors", in_safetensors},
                                 {"PyTorch", in_torch},
                                 {"npy", in_npy},
                                 {"ONNX", in_onnx}};

// Opens the sample and compares every plane of its embedding table with what went in.
void expect_comes_back(const Sample& sample, const Dtype& dtype) {
  Files files = sample.files;
  const Result<ModelPlan> opened =
      drive(files, sample.root, [](FileSet& set) { return open_model(set, OpenOptions{}); });
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const TableSource& source = opened.value().find("embedding")->source;
  EXPECT_EQ(source.spec.dtype->name, dtype.name);
  EXPECT_EQ(source.spec.rows, kRows);
  EXPECT_EQ(source.spec.cols, kCols);
  auto table = std::move(Table::allocate(source.spec, *kernel_table("scalar")).value());
  for (const Segment& segment : source.segments) {
    const std::vector<uint8_t>& file = files.at(opened.value().directory.files[segment.file]);
    std::memcpy(table->plane(segment.plane).data() + segment.target, file.data() + segment.offset,
                segment.bytes);
  }
  const std::vector<uint8_t>* planes[] = {&sample.planes.quants, &sample.planes.scales,
                                          &sample.planes.offsets};
  for (size_t i = 0; i < 3; ++i) {
    const MutableBytes plane = table->plane(i);
    EXPECT_EQ(std::vector<uint8_t>(plane.begin(), plane.end()), *planes[i]) << "plane " << i;
  }
}

// Bits per weight, rounded to two digits where they are no whole number.
std::string bits_per_weight(const Dtype& dtype) {
  const uint32_t hundredths = (dtype.block_bytes * 800 + dtype.block_size / 2) / dtype.block_size;
  const std::string whole = std::to_string(hundredths / 100),
                    rest = std::to_string(100 + hundredths % 100).substr(1);
  return rest == "00" ? whole : whole + "." + rest;
}

// Tests every cell on the way.
std::string table_of_formats() {
  std::ostringstream out;
  out << "| format | bits per weight | weights per block |";
  for (const Carrier& carrier : kCarriers) out << ' ' << carrier.name << " |";
  out << " `quantize` writes it |\n| --- | --: | --: |";
  for (size_t i = 0; i <= std::size(kCarriers); ++i) out << " :-: |";
  out << '\n';
  for (const Dtype& dtype : dtypes()) {
    if (dtype.format < 0) continue;
    out << "| " << dtype.name << " | " << bits_per_weight(dtype) << " | " << dtype.block_size << " |";
    for (const Carrier& carrier : kCarriers) {
      SCOPED_TRACE(std::string(dtype.name) + " in " + std::string(carrier.name));
      const std::optional<Sample> sample = carrier.make(dtype);
      if (sample) expect_comes_back(*sample, dtype);
      out << (sample ? " ✓ |" : " |");
    }
    out << (encoder_for(dtype.name) != nullptr ? " ✓ |\n" : " |\n");
  }
  return out.str();
}

constexpr std::string_view kBegin = "<!-- table: written by tests/cpp/formats_table_test.cpp -->\n",
                           kEnd = "<!-- end -->";

TEST(FormatsTable, DocumentSaysWhatTheCodeDoes) {
  const std::string path = ID2VEC_ROOT "/docs/formats.md";
  const std::vector<uint8_t> bytes = read_file(path);
  const std::string document(bytes.begin(), bytes.end());
  const size_t begin = document.find(kBegin), end = document.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string table = table_of_formats();
  const std::string before = document.substr(0, begin + kBegin.size());
  if (std::getenv("ID2VEC_WRITE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << before << table << document.substr(end);
    return;
  }
  EXPECT_EQ(document.substr(before.size(), end - before.size()), table)
      << "run the test with ID2VEC_WRITE_DOCS=1 to write the table anew";
}

}  // namespace
}  // namespace id2vec

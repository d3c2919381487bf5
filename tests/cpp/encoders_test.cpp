// Encoders against ggml: source.f32 → <type>.bin, byte for byte.
#include "tools/encoders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "containers/reader.h"
#include "corpus.h"
#include "drive.h"
#include "format_excerpts.h"
#include "formats/catalog.h"
#include "formats/formats.h"

namespace id2vec {
namespace {

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = char(std::tolower(c));
  return text;
}

std::vector<uint8_t> encode(const Encoder& encoder, const std::vector<float>& row) {
  const Dtype& dtype = *dtype_by_name(encoder.dtype);
  std::vector<uint8_t> quants(row.size() / dtype.block_size * dtype.block_bytes), scale(4);
  encoder.encode(row.data(), row.size(), {quants.data(), scale.data(), nullptr});
  return quants;
}

TEST(Encoders, GoldenBytesAreGgmls) {
  ID2VEC_NEED_CORPUS();
  const std::vector<uint8_t> source = corpus_file("golden/source.f32");
  ASSERT_EQ(source.size(), 8u * 512 * 4);
  std::vector<float> rows(8 * 512);
  std::memcpy(rows.data(), source.data(), source.size());
  size_t checked = 0;
  for (const Encoder& encoder : encoders()) {
    if (dtype_by_name(encoder.dtype)->planar) continue;  // none of ggml's
    SCOPED_TRACE(encoder.dtype);
    const std::vector<uint8_t> expected = corpus_file("golden/" + lower(encoder.dtype) + ".bin");
    const size_t row_bytes = expected.size() / 8;
    for (size_t r = 0; r < 8; ++r) {
      const std::vector<uint8_t> actual = encode(encoder, {&rows[r * 512], &rows[r * 512] + 512});
      ASSERT_EQ(actual.size(), row_bytes);
      const auto difference = std::mismatch(actual.begin(), actual.end(), expected.begin() + r * row_bytes);
      EXPECT_EQ(difference.first - actual.begin(), std::ptrdiff_t(row_bytes))
          << "first different byte of row " << r;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 11u);
}

std::vector<uint8_t> bytes_of(std::string_view hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(uint8_t(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

TEST(Encoders, ExcerptsAreGgmls) {
  const std::vector<uint8_t> source = bytes_of(kExcerptSourceHex);
  std::vector<float> weights(256);
  ASSERT_EQ(source.size(), weights.size() * sizeof(float));
  std::memcpy(weights.data(), source.data(), source.size());
  size_t checked = 0;
  for (const FormatExcerpt& excerpt : kFormatExcerpts) {
    const Encoder* encoder = encoder_for(excerpt.name);
    if (encoder == nullptr) continue;
    const size_t width = dtype_by_name(excerpt.name)->block_size;
    const float* first = weights.data() + (width < 256 ? width : 0);
    EXPECT_EQ(encode(*encoder, {first, first + width}), bytes_of(excerpt.block_hex)) << excerpt.name;
    ++checked;
  }
  EXPECT_EQ(checked, 11u);
}

std::vector<uint8_t> embedding_of(const std::string& name) {
  const std::vector<uint8_t> file = corpus_file("gguf/" + name);
  const Result<Directory> directory = drive({{name, file}}, name, read_directory);
  if (!directory.ok()) return {};
  const Tensor* tensor = directory.value().find("token_embd.weight");
  return {file.begin() + tensor->offset, file.begin() + tensor->offset + tensor->bytes};
}

// A real table [512, 64], as llama.cpp's own quantizer wrote it.
TEST(Encoders, RealTableAsLlamaCppQuantizesIt) {
  ID2VEC_NEED_CORPUS();
  const std::vector<uint8_t> source = embedding_of("stories260K.gguf");
  std::vector<float> weights(512 * 64);
  ASSERT_EQ(source.size(), weights.size() * sizeof(float));
  std::memcpy(weights.data(), source.data(), source.size());
  for (const char* dtype : {"F16", "BF16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0"}) {
    EXPECT_EQ(encode(*encoder_for(dtype), weights),
              embedding_of(std::string("stories260K.") + dtype + ".gguf"))
        << dtype;
  }
}

TEST(Encoders, EveryEncoderWritesAFormatOfTheList) {
  for (const Encoder& encoder : encoders()) {
    ASSERT_NE(dtype_by_name(encoder.dtype), nullptr) << encoder.dtype;
    EXPECT_GE(dtype_by_name(encoder.dtype)->format, 0) << encoder.dtype;
    EXPECT_EQ(encoder_for(encoder.dtype), &encoder);
  }
  EXPECT_EQ(encoder_for("IQ1_S"), nullptr);
}

TEST(Encoders, RowInt8HasOneScaleForTheRow) {
  const float row[] = {-1.27f, 0, 0.635f, 1.27f, 0.004f};
  uint8_t quants[5], scale[4];
  encode_row_int8(row, 5, {quants, scale, nullptr});
  EXPECT_EQ(load_le<float>(scale), 1.27f / 127);
  EXPECT_EQ(std::vector<int8_t>(quants, quants + 5), (std::vector<int8_t>{-127, 0, 64, 127, 0}));
  const float zeros[3] = {};
  encode_row_int8(zeros, 3, {quants, scale, nullptr});
  EXPECT_EQ(load_le<float>(scale), 0);
  EXPECT_EQ(quants[0], 0);
}

// Whatever the weights are, an encoder stays inside its output and the sanitizers have nothing to say.
TEST(Encoders, SurviveNumbersThatAreNone) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float odd[] = {NAN, kInfinity, -kInfinity, 3e38f, -3e38f, 1e-45f, -0.0f, 1};
  uint32_t random = 3;
  for (int round = 0; round < 50; ++round) {
    std::vector<float> row(256);
    for (float& weight : row) weight = odd[(random = random * 1664525 + 1013904223) >> 29];
    for (const Encoder& encoder : encoders()) {
      std::vector<uint8_t> quants(row.size() * 4 + 8, 0xab), scale(4);
      const Dtype& dtype = *dtype_by_name(encoder.dtype);
      const size_t bytes = row.size() / dtype.block_size * dtype.block_bytes;
      encoder.encode(row.data(), row.size(), {quants.data(), scale.data(), nullptr});
      for (size_t i = bytes; i < bytes + 8; ++i) EXPECT_EQ(quants[i], 0xab) << encoder.dtype;
    }
  }
}

}  // namespace
}  // namespace id2vec

#include "tools/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_table.h"
#include "tools/encoders.h"
#include "tools/quantize.h"

namespace id2vec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const KernelTable& kernels() { return *kernel_table("scalar"); }

std::vector<float> row(const Table& table, uint32_t id) {
  std::vector<float> out(table.spec().cols);
  EXPECT_TRUE(table.lookup({&id, 1}, out).ok());
  return out;
}

std::unique_ptr<Table> float_table(uint64_t rows, uint32_t cols, const std::vector<float>& values) {
  auto table = std::move(Table::allocate({dtype_by_name("F32"), rows, cols, {}}, kernels()).value());
  std::memcpy(table->plane(0).data(), values.data(), values.size() * sizeof(float));
  return table;
}

void expect_same_rows(const Table& a, const Table& b, uint64_t rows) {
  for (size_t i = 0; i < a.view().planes.size(); ++i) {
    const auto &left = a.view().planes[i], &right = b.view().planes[i];
    EXPECT_EQ(left.row_bytes, right.row_bytes);
    const size_t bytes = rows * left.row_bytes;
    if (bytes > 0) EXPECT_EQ(std::memcmp(left.data, right.data, bytes), 0) << "plane " << i;
  }
}

template <class F>
void expect_kept_and_zero() {
  SCOPED_TRACE(F::kName);
  const auto source = random_table<F>(kernels(), 5, 256);
  const auto more = resize_table(*source, 7, NewRows::kZeros);
  ASSERT_TRUE(more.ok()) << more.status().message();
  EXPECT_EQ(more.value()->spec().rows, 7u);
  expect_same_rows(*source, *more.value(), 5);
  for (uint32_t id : {5u, 6u}) {
    for (float value : row(*more.value(), id)) EXPECT_EQ(value, 0);
  }
  const auto fewer = resize_table(*source, 2, NewRows::kMean);
  ASSERT_TRUE(fewer.ok());
  EXPECT_EQ(fewer.value()->spec().rows, 2u);
  expect_same_rows(*source, *fewer.value(), 2);
}

template <class... F>
void expect_all(FormatList<F...>) {
  (expect_kept_and_zero<F>(), ...);
}

TEST(Resize, KeepsTheBytesOfRowsAndAddsZerosInEveryFormat) { expect_all(Formats{}); }

TEST(Resize, NewRowsAreTheMeanOfTheOldOnes) {
  const auto source = float_table(3, 2, {1, -4, 2, 0, 6, 1});
  const auto more = std::move(resize_table(*source, 5, NewRows::kMean).value());
  EXPECT_THAT(row(*more, 2), ElementsAre(6, 1));
  EXPECT_THAT(row(*more, 3), ElementsAre(3, -1));
  EXPECT_THAT(row(*more, 4), ElementsAre(3, -1));
}

TEST(Resize, TheMeanIsEncodedAsTheFormatEncodesIt) {
  const auto floats = float_table(4, 256, random_floats(4 * 256, 5));
  for (const Encoder& encoder : encoders()) {
    SCOPED_TRACE(encoder.dtype);
    const auto source = std::move(quantize_table(*floats, *dtype_by_name(encoder.dtype)).value());
    const auto more = resize_table(*source, 5, NewRows::kMean);
    ASSERT_TRUE(more.ok()) << more.status().message();
    expect_same_rows(*source, *more.value(), 4);
    std::vector<float> mean(256);
    for (uint32_t id = 0; id < 4; ++id) {
      const std::vector<float> values = row(*source, id);
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += values[i] / 4;
    }
    const auto expected =
        std::move(quantize_table(*float_table(1, 256, mean), *dtype_by_name(encoder.dtype)).value());
    const std::vector<float> got = row(*more.value(), 4), wanted = row(*expected, 0);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 0.1) << i;
  }
}

TEST(Resize, RefusesWhatItCannotWrite) {
  const auto iq = random_table<IQ2_S>(kernels(), 3, 256);
  EXPECT_THAT(resize_table(*iq, 4, NewRows::kMean).status().message(), HasSubstr("IQ2_S"));
  EXPECT_EQ(resize_table(*iq, 0, NewRows::kZeros).status().code(), Code::kInvalidArgument);
  const auto shared = std::move(
      Table::allocate({dtype_by_name("AFFINE_8"), 3, 32, AffineSpec{.group_size = 32, .per_tensor = true}},
                      kernels())
          .value());
  EXPECT_EQ(resize_table(*shared, 4, NewRows::kZeros).status().code(), Code::kUnsupported);
}

// Of integers with scales apart, one layout has an encoder; in others its bytes would go to the wrong places.
TEST(Resize, TheMeanIsNotWrittenIntoLayoutsWithoutAnEncoder) {
  const AffineSpec row_int8 = row_int8_spec(32);
  AffineSpec half_scales = row_int8, factor = row_int8, groups = row_int8, is_unsigned = row_int8;
  half_scales.scale_type = ScaleType::kF16;
  factor.scale_factor = 1.0f / 127;
  groups.group_size = 16;
  is_unsigned.is_signed = false;
  const auto resized = [](const AffineSpec& affine) {
    const auto table =
        std::move(Table::allocate({dtype_by_name("AFFINE_8"), 3, 32, affine}, kernels()).value());
    return resize_table(*table, 4, NewRows::kMean).status();
  };
  EXPECT_TRUE(resized(row_int8).ok());
  for (const AffineSpec& affine : {half_scales, factor, groups, is_unsigned}) {
    EXPECT_EQ(resized(affine).code(), Code::kUnsupported);
    EXPECT_THAT(resized(affine).message(), HasSubstr("AFFINE_8 with scales of this kind"));
  }
}

TEST(Resize, VectorsFollow) {
  const auto bias = float_table(1, 3, {1, 2, 6});
  EXPECT_THAT(row(*resize_vector(*bias, 2, NewRows::kMean).value(), 0), ElementsAre(1, 2));
  EXPECT_THAT(row(*resize_vector(*bias, 5, NewRows::kMean).value(), 0), ElementsAre(1, 2, 6, 3, 3));
  EXPECT_THAT(row(*resize_vector(*bias, 4, NewRows::kZeros).value(), 0), ElementsAre(1, 2, 6, 0));
  const auto blocks = random_table<Q8_0>(kernels(), 1, 32);
  EXPECT_EQ(resize_vector(*blocks, 64, NewRows::kZeros).status().code(), Code::kUnsupported);
}

Directory vocabulary(std::vector<std::string> pieces) {
  Directory directory;
  directory.vocabulary.offsets = {0};
  for (const std::string& piece : pieces) {
    directory.vocabulary.text += piece;
    directory.vocabulary.offsets.push_back(static_cast<uint32_t>(directory.vocabulary.text.size()));
    directory.vocabulary.scores.push_back(-float(directory.vocabulary.scores.size()));
  }
  return directory;
}

TEST(Resize, TheVocabularyGetsUnusedPieces) {
  Directory directory = vocabulary({"a", "bc"});
  resize_vocabulary(directory, 4);
  ASSERT_EQ(directory.vocabulary.size(), 4u);
  EXPECT_EQ(directory.vocabulary.piece(1), "bc");
  EXPECT_EQ(directory.vocabulary.piece(3), "[PAD3]");
  EXPECT_THAT(directory.vocabulary.types, ElementsAre(1, 1, 5, 5));
  EXPECT_THAT(directory.vocabulary.scores, ElementsAre(0, -1, -10000, -10000));
}

TEST(Resize, MergesOfPiecesThatAreGoneGoToo) {
  const std::vector<std::string> merges = {"a b", "ab c", "b c"};
  LongArray stored{.length = 3, .type = 8};
  for (const std::string& merge : merges) {
    const uint64_t length = merge.size();
    for (int i = 0; i < 8; ++i) stored.bytes.push_back(uint8_t(length >> (8 * i)));
    stored.bytes.insert(stored.bytes.end(), merge.begin(), merge.end());
  }
  for (const MetadataValue& value : {MetadataValue(merges), MetadataValue(stored)}) {
    Directory directory = vocabulary({"a", "b", "c", "ab", "bc", "abc"});
    directory.metadata["tokenizer.ggml.merges"] = value;
    resize_vocabulary(directory, 5);
    EXPECT_EQ(directory.vocabulary.size(), 5u);
    EXPECT_EQ(directory.vocabulary.text, "abcabbc");
    EXPECT_EQ(directory.vocabulary.scores.size(), 5u);
    EXPECT_THAT(std::get<std::vector<std::string>>(directory.metadata.at("tokenizer.ggml.merges")),
                ElementsAre("a b", "b c"));
  }
}

}  // namespace
}  // namespace id2vec

#include "containers/origin.h"

#include <gtest/gtest.h>

namespace id2vec {
namespace {

Directory example() {
  Directory directory;
  directory.metadata = {{"a.bool", true},
                        {"b.signed", int64_t{-7}},
                        {"c.unsigned", uint64_t{1} << 63},
                        {"d.double", 0.1},
                        {"e.text", std::string("a\0b", 3)},
                        {"f.numbers", std::vector<double>{1, -2.5}},
                        {"g.texts", std::vector<std::string>{"", "two"}},
                        {"h.long", LongArray{.length = 3, .type = 4, .bytes = {1, 2, 3}}}};
  directory.vocabulary = {.text = "onetwo", .offsets = {0, 3, 6}, .scores = {-1, -2.5f}, .types = {1, 3}};
  return directory;
}

TEST(Origin, ComesOutAsItWentIn) {
  const Directory source = example();
  Directory copy;
  copy.metadata["gone"] = true;
  ASSERT_TRUE(unpack_origin(pack_origin(source), copy).ok());
  ASSERT_EQ(copy.metadata.size(), source.metadata.size());
  for (const auto& [key, value] : source.metadata)
    EXPECT_EQ(copy.metadata.at(key).index(), value.index()) << key;
  EXPECT_EQ(std::get<int64_t>(copy.metadata.at("b.signed")), -7);
  EXPECT_EQ(std::get<uint64_t>(copy.metadata.at("c.unsigned")), uint64_t{1} << 63);
  EXPECT_EQ(std::get<double>(copy.metadata.at("d.double")), 0.1);
  EXPECT_EQ(std::get<std::string>(copy.metadata.at("e.text")), std::string("a\0b", 3));
  EXPECT_EQ(std::get<std::vector<double>>(copy.metadata.at("f.numbers")), (std::vector<double>{1, -2.5}));
  EXPECT_EQ(std::get<std::vector<std::string>>(copy.metadata.at("g.texts")),
            (std::vector<std::string>{"", "two"}));
  EXPECT_EQ(std::get<LongArray>(copy.metadata.at("h.long")).bytes, (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ(copy.vocabulary.text, "onetwo");
  EXPECT_EQ(copy.vocabulary.offsets, source.vocabulary.offsets);
  EXPECT_EQ(copy.vocabulary.scores, source.vocabulary.scores);
  EXPECT_EQ(copy.vocabulary.types, source.vocabulary.types);
}

TEST(Origin, EveryCutAndEveryByteTooManyIsRefused) {
  const std::string whole = pack_origin(example());
  for (size_t length = 0; length < whole.size(); ++length) {
    Directory copy;
    EXPECT_EQ(unpack_origin(std::string_view(whole).substr(0, length), copy).code(), Code::kMalformed)
        << length;
  }
  Directory copy;
  EXPECT_EQ(unpack_origin(whole + "x", copy).code(), Code::kMalformed);
}

}  // namespace
}  // namespace id2vec

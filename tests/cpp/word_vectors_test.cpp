#include "tools/word_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tools/parse_float.h"

namespace id2vec {
namespace {

using Format = WordVectors::Format;

struct Words {
  Status status;
  std::vector<std::string> tokens;
  std::vector<float> values;
  uint32_t dim = 0;
  uint64_t skipped = 0;
  Format format = Format::kDetect;
};

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

Words read(std::string_view text, size_t chunk = 1, Format format = Format::kDetect) {
  WordVectors reader(format);
  Words words;
  for (size_t at = 0; at < text.size() && words.status.ok(); at += chunk) {
    const std::string_view piece = text.substr(at, chunk);
    words.status = reader.feed(Bytes(reinterpret_cast<const uint8_t*>(piece.data()), piece.size()));
    words.values.insert(words.values.end(), reader.rows().begin(), reader.rows().end());
    reader.drop_rows();
  }
  if (words.status.ok()) {
    words.status = reader.finish();
    words.values.insert(words.values.end(), reader.rows().begin(), reader.rows().end());
  }
  for (uint64_t i = 0; i < reader.size(); ++i) words.tokens.emplace_back(reader.token(i));
  words.dim = reader.dim();
  words.skipped = reader.skipped();
  words.format = reader.format();
  return words;
}

using Tokens = std::vector<std::string>;
using Values = std::vector<float>;

TEST(WordVectors, ReadsGloVeText) {
  for (const size_t chunk : {1, 2, 3, 7, 1000}) {
    const Words words = read("the 0.25 -1 2e-3\nof 1 2 3\n", chunk);
    ASSERT_TRUE(words.status.ok()) << words.status.message();
    EXPECT_EQ(words.tokens, (Tokens{"the", "of"}));
    EXPECT_EQ(words.values, (Values{0.25f, -1, 2e-3f, 1, 2, 3}));
    EXPECT_EQ(words.dim, 3u);
    EXPECT_EQ(words.format, Format::kText);
  }
}

TEST(WordVectors, ReadsAHeaderTabsTrailingBlanksAndNoLastNewline) {
  const Words words = read(
      "\xEF\xBB\xBF"
      "2 2 \r\n</s>\t1\t2 \r\n\r\nconstructor 3 4");
  ASSERT_TRUE(words.status.ok()) << words.status.message();
  EXPECT_EQ(words.tokens, (Tokens{"</s>", "constructor"}));
  EXPECT_EQ(words.values, (Values{1, 2, 3, 4}));
}

TEST(WordVectors, KeepsSpacesInTokensWhereThereIsNoHeader) {
  const Words words = read("the 1 2\n. . . 3 4\n");
  ASSERT_TRUE(words.status.ok()) << words.status.message();
  EXPECT_EQ(words.tokens, (Tokens{"the", ". . ."}));
}

TEST(WordVectors, SkipsTokensThatCameBefore) {
  const Words words = read("a 1\nb 2\na 3\nc 4\n");
  ASSERT_TRUE(words.status.ok()) << words.status.message();
  EXPECT_EQ(words.tokens, (Tokens{"a", "b", "c"}));
  EXPECT_EQ(words.values, (Values{1, 2, 4}));
  EXPECT_EQ(words.skipped, 1u);
}

TEST(WordVectors, ReplacesWhatIsNoUtf8) {
  const Words words = read("a\xFFz 1\n");
  ASSERT_TRUE(words.status.ok()) << words.status.message();
  EXPECT_EQ(words.tokens, (Tokens{"a\xEF\xBF\xBDz"}));
}

std::string binary(std::string_view header, const std::vector<std::pair<std::string, Values>>& rows,
                   bool newlines) {
  std::string out(header);
  for (const auto& [token, values] : rows) {
    out += token + " ";
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    if (newlines) out += '\n';
  }
  return out;
}

TEST(WordVectors, ReadsBinaryWithAndWithoutNewlines) {
  // 0x200A2020 as a float: its bytes are two spaces, a newline and a space.
  float tricky;
  const uint32_t bits = 0x200A2020;
  std::memcpy(&tricky, &bits, sizeof bits);
  for (const bool newlines : {true, false}) {
    const std::string bytes = binary("2 3\n", {{"</s>", {1, tricky, 3}}, {"of", {tricky, -5, 0}}}, newlines);
    for (const size_t chunk : {1, 5, 16, 1000}) {
      const Words words = read(bytes, chunk);
      ASSERT_TRUE(words.status.ok()) << words.status.message();
      EXPECT_EQ(words.tokens, (Tokens{"</s>", "of"}));
      EXPECT_EQ(words.values, (Values{1, tricky, 3, tricky, -5, 0}));
      EXPECT_EQ(words.format, Format::kBinary);
    }
  }
}

TEST(WordVectors, FollowsTheCallersWord) {
  // All bytes of these floats are printable: only the caller can know.
  const std::string bytes = "1 2\nx AAAABBBB";
  const Words words = read(bytes, 1, Format::kBinary);
  ASSERT_TRUE(words.status.ok()) << words.status.message();
  EXPECT_EQ(words.tokens, (Tokens{"x"}));
  EXPECT_FALSE(read(bytes).status.ok());
}

struct Broken {
  std::string text;
  Code code;
  const char* piece;
};

TEST(WordVectors, NamesTheLineThatIsWrong) {
  const Broken cases[] = {
      {"", Code::kMalformed, "no word vectors"},
      {"3 2\n", Code::kMalformed, "promises 3 rows, but there are 0"},
      {"2 2\na 1 2\n", Code::kMalformed, "promises 2 rows, but there are 1; download"},
      {"1 2\na 1 2\nb 3 4\n", Code::kMalformed, "promises 1 rows, but there are 2"},
      {"1 0\n", Code::kLimit, "vectors have 0 numbers"},
      {"1 99999\n", Code::kLimit, "vectors have 99999 numbers"},
      {"alone\n", Code::kMalformed, "line 1: a token without numbers"},
      {"a 1 2\nb 3\n", Code::kMalformed, "line 2: fewer than 2 numbers"},
      {"a 1 2\nb 3 x\n", Code::kMalformed, "line 2: 'x' (number 2 of 2) is no number"},
      {"a 1 2\nb 3 nan\n", Code::kMalformed, "'nan' (number 2 of 2) is no number"},
      {"a 1,5 2\n", Code::kMalformed, "line 1: '1,5' (number 1 of 2) is no number"},
      {"2 2\na 1 2\nb 1 2 3\n", Code::kMalformed, "line 3: more than the 2 numbers"},
      {"  0.5 2\n", Code::kMalformed, "line 1: fewer than 2 numbers behind a token"},
      {std::string(5000, 't') + " 1\n", Code::kMalformed, "a token of 5000 bytes"},
      {std::string(2'000'000, 'x'), Code::kLimit, "line 1 is longer than 1048576 bytes"},
      {"\xBA\x16\x4F\x2F and so on", Code::kUnsupported, "fastText model"},
      {"\x1F\x8B\x08 and so on", Code::kUnsupported, "gzip"},
      {std::string("\0\1\2\3\n", 5), Code::kMalformed, "its first line is not \"V d\""},
      {binary("2 3\n", {{"a", {1, 2, 3}}, {"b", {1, 2}}}, false), Code::kTruncated, "ends within row 2"},
      {binary("1 1\n", {{"a", {1}}, {"b", {2}}}, true), Code::kMalformed,
       "row 2: the header promises only 1 rows"},
      {binary("2 1\n", {{"a", {1}}}, true), Code::kMalformed, "promises 2 rows, but there are 1"},
      {binary("1 1\n", {{"", {1}}}, true), Code::kMalformed, "row 1: a row without a token"},
  };
  for (const Broken& broken : cases) {
    for (const size_t chunk : {broken.text.size() > 100'000 ? 70'000 : 3, 100'000}) {
      const Words words = read(broken.text, chunk);
      EXPECT_EQ(words.status.code(), broken.code) << broken.piece << ": " << words.status.message();
      EXPECT_NE(words.status.message().find(broken.piece), std::string::npos)
          << broken.piece << ": " << words.status.message();
    }
  }
}

TEST(WordVectors, RecognisesAFileByItsFirstLine) {
  for (const std::string_view text : {"2 3\n", "2 3 \r\n", "the 0.25 -1\nof", "\xEF\xBB\xBFthe 1 2"}) {
    EXPECT_TRUE(WordVectors::matches(bytes_of(text))) << text;
  }
  for (const std::string_view text :
       {"", "\n", "alone", "the 1\n", "1 2 x", "GGUF\x03", "{\"a\": 1 2}", "the cat 1 2 sat", ". . . 1 2"}) {
    EXPECT_FALSE(WordVectors::matches(bytes_of(text))) << text;
  }
}

TEST(WordVectors, FindsTokensAgainInALargeVocabulary) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "w" + std::to_string(i) + " 1\n";
  const Words words = read(text + text, 4096);
  ASSERT_TRUE(words.status.ok()) << words.status.message();
  EXPECT_EQ(words.tokens.size(), 5000u);
  EXPECT_EQ(words.skipped, 5000u);
}

float parsed(std::string_view text) {
  const std::optional<float> value = parse_float(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(NAN);
}

TEST(ParseFloat, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(parsed("1"), 1.0f);
  EXPECT_EQ(parsed("-0.418"), -0.418f);
  EXPECT_EQ(parsed(".5"), 0.5f);
  EXPECT_EQ(parsed("5."), 5.0f);
  EXPECT_EQ(parsed("+1E+2"), 100.0f);
  // 2^24 + 1 lies halfway; a millionth decides.
  EXPECT_EQ(parsed("16777217"), 16777216.0f);
  EXPECT_EQ(parsed("16777217.000001"), 16777218.0f);
  EXPECT_EQ(parsed("16777219"), 16777220.0f);
  // Rounded to double first, this would be a tie: 1 + 2^-24 and a bit that a double cannot hold.
  EXPECT_EQ(parsed("1.00000005960464477539062500000000000000000000000000000001"), 0x1.000002p0f);
  EXPECT_EQ(parsed("1.000000059604644775390625"), 1.0f);
  EXPECT_EQ(parsed("0.99999997019767761230468749999999999999999999999999999999"), 0x1.fffffep-1f);
}

TEST(ParseFloat, ReachesBothEndsOfTheRange) {
  EXPECT_EQ(parsed("3.4028234663852886e38"), 0x1.fffffep127f);
  EXPECT_EQ(parsed("3.40282356779733642747e38"), 0x1.fffffep127f);
  EXPECT_EQ(parsed("3.40282356779733661638e38"), INFINITY);
  EXPECT_EQ(parsed("-1e99999999999999999999"), -INFINITY);
  EXPECT_EQ(parsed("1.4e-45"), 0x1p-149f);
  EXPECT_EQ(parsed("7.0064923216240853e-46"), 0.0f);
  EXPECT_EQ(parsed("7.0064923216240854e-46"), 0x1p-149f);
  EXPECT_EQ(parsed("1.17549435e-38"), 0x1p-126f);
  EXPECT_TRUE(std::signbit(parsed("-1e-60")));
  EXPECT_TRUE(std::signbit(parsed("-0")));
}

TEST(ParseFloat, RefusesWhatIsNoNumber) {
  for (const std::string_view text : {"", "-", "+", ".", "-.", "e5", "1e", "1e+", "1e5.0", "nan", "inf",
                                      "1,5", "1.2.3", " 1", "1 ", "0x10", "1f", "--1", "1_000"}) {
    EXPECT_FALSE(parse_float(text).has_value()) << text;
  }
  EXPECT_FALSE(parse_float(std::string(1001, '1')).has_value());
}

}  // namespace
}  // namespace id2vec

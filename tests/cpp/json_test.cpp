// The JSON pull reader: what it accepts and refuses, and that malice costs neither stack nor time.
#include "containers/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace id2vec {
namespace {

// The status of skipping the whole text.
Status check(std::string_view text) {
  JsonReader json(text);
  json.skip_value();
  json.finish();
  return json.status("x.json");
}

std::string decoded(std::string_view text) {
  JsonReader json(text);
  std::string value = json.read_string();
  json.finish();
  EXPECT_TRUE(json.ok()) << json.status("x.json").message();
  return value;
}

TEST(Json, TakesEveryKindOfValue) {
  for (const char* text :
       {"null", "true", "false", "0", "-0", "1.5", "1e9", "1E+9", "-1.25e-3", "\"\"", "[]", "{}",
        " [ 1 , 2 ] ", "{\"a\":[{}],\"b\":{\"a\":null}}", "[[],[[]]]", "\t\r\n 1 "}) {
    EXPECT_TRUE(check(text).ok()) << text << ": " << check(text).message();
  }
}

TEST(Json, RefusesWhatTheGrammarDoesNotAllow) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "truest",
                           "01",
                           "1.",
                           ".5",
                           "-",
                           "+1",
                           "1e",
                           "1e+",
                           "0x1",
                           "NaN",
                           "Infinity",
                           "-Infinity",
                           "'a'",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\n\"",
                           "\"\x80\"",
                           "\"\xc0\xaf\"",
                           "\"\xed\xa0\x80\"",
                           "[1,]",
                           "[1 2]",
                           "[,1]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{1:1}",
                           "[1}",
                           "{\"a\":1]",
                           "[",
                           "{",
                           "]",
                           "1 1",
                           "{\"a\":1}x",
                           "// c\n1"}) {
    const Status status = check(text);
    EXPECT_EQ(status.code(), Code::kMalformed) << text;
    EXPECT_NE(status.message().find("x.json: this is no valid JSON: "), std::string::npos)
        << status.message();
  }
}

TEST(Json, NamesTheByte) {
  EXPECT_EQ(check("[1, 2, x]").message(), "x.json: this is no valid JSON: a value was expected at byte 7");
}

TEST(Json, DecodesStrings) {
  EXPECT_EQ(decoded(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(decoded(R"("\u0041\u00e9\u20ac\ud83d\ude00")"), "Aé€😀");
  EXPECT_EQ(decoded("\"é€😀\""), "é€😀");
  EXPECT_EQ(decoded(R"("\u0000")"), std::string(1, '\0'));
}

TEST(Json, RefusesAKeyThatAppearsTwice) {
  EXPECT_EQ(check(R"({"a":1,"b":2,"\u0061":3})").message(),
            "x.json: the JSON key 'a' appears twice, again at byte 13");
  EXPECT_EQ(check(R"([{"a":{"b":1,"c":2,"b":3}}])").code(), Code::kMalformed);
  EXPECT_TRUE(check(R"({"a":{"a":1},"b":{"a":1}})").ok());
}

TEST(Json, StopsAtADepthWithoutRecursion) {
  const auto nested = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_TRUE(check(nested(64)).ok());
  EXPECT_EQ(check(nested(65)).code(), Code::kLimit);
  EXPECT_EQ(check(nested(1000000)).code(), Code::kLimit);
}

TEST(Json, ReadsIntegersExactly) {
  JsonReader json("[0, 18446744073709551615, 9007199254740993]");
  json.enter_array();
  std::vector<uint64_t> values;
  while (json.next_element()) values.push_back(json.read_u64());
  EXPECT_TRUE(json.ok());
  EXPECT_EQ(values, (std::vector<uint64_t>{0, UINT64_MAX, 9007199254740993u}));
  for (const char* text : {"18446744073709551616", "-1", "1.0", "1e2", "\"1\""}) {
    JsonReader other(text);
    EXPECT_EQ(other.read_u64(), 0u);
    EXPECT_FALSE(other.ok()) << text;
  }
}

TEST(Json, ReadsNumbersAsTheCompilerDoes) {
  const auto number = [](const char* text) {
    JsonReader json(text);
    return json.read_number().value;
  };
#define SAME(literal) EXPECT_EQ(number(#literal), literal)
  SAME(0.1);
  SAME(1e-05);
  SAME(78.38367176906169);
  SAME(0.5773502691896257);
  SAME(-123456789.123456789);
  SAME(3.4028234663852886e+38);
  SAME(5e-324);
  SAME(9007199254740993);
  SAME(1e22);
  SAME(1e23);
  SAME(1e-27);
#undef SAME
  EXPECT_EQ(number("1e999999999999999999"), INFINITY);
  EXPECT_EQ(number("-1e-999999999999999999"), 0);
  EXPECT_DOUBLE_EQ(number("1.7976931348623157e308"), 1.7976931348623157e308);
}

TEST(Json, ReadsPythonsNumbersWhereAsked) {
  JsonReader json("[NaN, Infinity, -Infinity]", JsonReader::Dialect::kPython);
  json.enter_array();
  std::vector<double> values;
  while (json.next_element()) values.push_back(json.read_number().value);
  json.finish();
  ASSERT_TRUE(json.ok()) << json.status("").message();
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], INFINITY);
  EXPECT_EQ(values[2], -INFINITY);
}

TEST(Json, GoesOnReturningNothingAfterAnError) {
  JsonReader json("{\"a\":1");
  std::string key;
  json.enter_object();
  ASSERT_TRUE(json.next_key(key));
  EXPECT_EQ(json.read_string(), "");
  EXPECT_FALSE(json.next_key(key));
  EXPECT_FALSE(json.next_element());
  EXPECT_EQ(json.read_u64(), 0u);
  EXPECT_EQ(json.status("f").message(), "f: this is no valid JSON: a string was expected at byte 5");
}

TEST(Json, TruncationAnywhereIsAnError) {
  const std::string text = R"({"k":[1,-2.5e3,"é\u00e9",true,null,{"n":{}}]})";
  EXPECT_TRUE(check(text).ok());
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(check(std::string_view(text).substr(0, length)).ok()) << length;
  }
}

}  // namespace
}  // namespace id2vec

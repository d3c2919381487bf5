#include "containers/pickle.h"

#include <gtest/gtest.h>

#include <deque>

#include "containers/limits.h"
#include "containers/pickle_flatten.h"
#include "pickle_builder.h"

namespace id2vec {
namespace {

using Kind = PickleValue::Kind;

// Values point into the bytes of their pickle, which are kept for as long as the test program runs.
Result<Pickle> read(const std::vector<uint8_t>& bytes) {
  static std::deque<std::vector<uint8_t>> kept;
  return read_pickle("p", kept.emplace_back(bytes));
}
Result<Pickle> read_ops(std::string_view ops) { return read(PickleBuilder().op(ops).stop()); }

TEST(Pickle, BuildsValuesOfEveryKind) {
  const Result<Pickle> pickle = read(PickleBuilder()
                                         .op("(N\x88K\x07M\x01\x02J\xFF\xFF\xFF\xFF")
                                         .op(std::string_view("G\x3F\xF0\0\0\0\0\0\0", 9))
                                         .text("héllo")
                                         .op(std::string_view("C\x02\0\x01", 4))
                                         .op("]}\x8Ft")
                                         .stop());
  ASSERT_TRUE(pickle.ok()) << pickle.status().message();
  const Pickle& p = pickle.value();
  std::vector<Kind> kinds;
  for (const PickleRef item : p[p.root].items) kinds.push_back(p[item].kind);
  EXPECT_EQ(kinds,
            (std::vector<Kind>{Kind::kNone, Kind::kBool, Kind::kInt, Kind::kInt, Kind::kInt, Kind::kFloat,
                               Kind::kText, Kind::kText, Kind::kSequence, Kind::kDict, Kind::kSequence}));
  EXPECT_EQ(p[p[p.root].items[3]].integer, 0x0201);
  EXPECT_EQ(p[p[p.root].items[4]].integer, -1);
  EXPECT_EQ(p[p[p.root].items[6]].text, "héllo");
}

TEST(Pickle, SignExtendsShortLongs) {
  EXPECT_EQ(read_ops("\x8A\x01\xFF").value().values.back().integer, -1);
  EXPECT_EQ(read_ops(std::string_view("\x8A\x02\xFF\0", 4)).value().values.back().integer, 255);
  EXPECT_EQ(read_ops(std::string_view("\x8A\0", 2)).value().values.back().integer, 0);
  EXPECT_EQ(read_ops(std::string_view("\x8A\x09\0\0\0\0\0\0\0\0\x01", 11)).value().values.back().kind,
            Kind::kBigInt);
}

TEST(Pickle, ReadsTheNumbersOfProtocolOne) {
  const auto last = [](std::string_view ops) { return read_ops(ops).value().values.back(); };
  EXPECT_EQ(last("I-12\n").integer, -12);
  EXPECT_EQ(last("L123456789012345678L\n").integer, 123456789012345678);
  EXPECT_EQ(last("L-5L\n").integer, -5);
  EXPECT_EQ(last("L119547037146038801333356L\n").text, "119547037146038801333356");
  EXPECT_EQ(last("L119547037146038801333356L\n").kind, Kind::kBigInt);
  const Result<Pickle> flags = read_ops("(I01\nI00\nt");
  ASSERT_TRUE(flags.ok()) << flags.status().message();
  const Pickle& p = flags.value();
  EXPECT_EQ(p[p[p.root].items[0]].kind, Kind::kBool);
  EXPECT_EQ(p[p[p.root].items[0]].integer, 1);
  EXPECT_EQ(p[p[p.root].items[1]].integer, 0);
}

TEST(Pickle, EndsWhereItStops) {
  std::vector<uint8_t> bytes = PickleBuilder().op("N").stop();
  const size_t length = bytes.size();
  bytes.push_back('x');
  EXPECT_EQ(read(bytes).value().bytes, length);
}

struct Broken {
  const char* name;
  std::string_view ops;
  Code code;
  const char* piece;
};

using namespace std::string_view_literals;

const Broken kBroken[] = {
    {"nothing", "", Code::kMalformed, "stops without a value"},
    {"open mark", "N(", Code::kMalformed, "stops without a value"},
    {"pop from nothing", "0", Code::kMalformed, "empty stack"},
    {"double nothing", "2", Code::kMalformed, "empty stack"},
    {"tuple of nothing", "\x87", Code::kMalformed, "empty stack"},
    {"tuple through a mark", "NN(N\x87", Code::kMalformed, "empty stack"},
    {"tuple without a mark", "Nt", Code::kMalformed, "mark that was never set"},
    {"append to nothing", "Na", Code::kMalformed, "empty stack"},
    {"append to a number", "K\x01Na", Code::kMalformed, "no container"},
    {"append to the empty tuple", ")Na", Code::kMalformed, "adds to a tuple"},
    {"append to a dictionary", "}Na", Code::kMalformed, "no container"},
    {"set in a list", "]NNs", Code::kMalformed, "no container"},
    {"key without a value", "}(Nu", Code::kMalformed, "key without a value"},
    {"dictionary of three", "(NNNd", Code::kMalformed, "key without a value"},
    {"unwritten memo", "h\x05", Code::kMalformed, "memo entry 5 was never written"},
    {"unwritten long memo", "j\xFF\xFF\xFF\xFF", Code::kMalformed, "was never written"},
    {"huge memo", "Nr\xFF\xFF\xFF\xFF", Code::kMalformed, "larger than the pickle"},
    {"remember nothing", "\x94", Code::kMalformed, "empty stack"},
    {"call a number", "K\x01)R", Code::kMalformed, "no function"},
    {"call with a number", "ccollections\nOrderedDict\nK\x01R", Code::kMalformed, "no function"},
    {"global named by numbers", "K\x01K\x02\x93", Code::kMalformed, "no text"},
    {"text of 4 GiB",
     "X\xFF\xFF\xFF\xFF"
     "abc",
     Code::kTruncated, "wants 4294967295 bytes"},
    {"text of 2⁶⁴ bytes",
     "\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
     "abc",
     Code::kTruncated, "wants 18446744073709551615 bytes"},
    {"long of 4 GiB", "\x8B\xFF\xFF\xFF\xFF", Code::kTruncated, "wants 4294967295 bytes"},
    {"global without an end", "ctorch", Code::kTruncated, "wants"},
    {"integer of letters", "I1x\n", Code::kMalformed, "'1x' is no whole number"},
    {"integer of nothing", "I\n", Code::kMalformed, "'' is no whole number"},
    {"long of a sign", "L-L\n", Code::kMalformed, "'-' is no whole number"},
    {"integer without an end", "I12345", Code::kTruncated, "wants"},
    {"protocol 0 text", "Vabc\n", Code::kUnsupported, "protocol 0 (instruction 86 at byte 2)"},
    {"protocol 0 string", "S'abc'\n", Code::kUnsupported, "protocol 0 (instruction 83"},
    {"protocol 0 float", "F1.5\n", Code::kUnsupported, "protocol 0 (instruction 70"},
    {"protocol 0 memo", "Np1\n", Code::kUnsupported, "protocol 0 (instruction 112"},
    {"protocol 0 persistent id", "Px\n", Code::kUnsupported, "protocol 0 (instruction 80"},
    {"old-style instance", "(iposix\nsystem\n", Code::kUnsupported, "protocol 0 (instruction 105"},
    {"old-style object", "(o", Code::kUnsupported, "protocol 0 (instruction 111"},
    {"extension", "\x82\x01", Code::kUnsupported, "instruction 130"},
    {"out-of-band buffer", "\x97", Code::kUnsupported, "instruction 151"},
};

TEST(Pickle, RefusesBrokenPrograms) {
  for (const Broken& broken : kBroken) {
    const Result<Pickle> pickle = read_ops(broken.ops);
    ASSERT_FALSE(pickle.ok()) << broken.name;
    EXPECT_EQ(pickle.status().code(), broken.code) << broken.name << ": " << pickle.status().message();
    EXPECT_NE(pickle.status().message().find(broken.piece), std::string::npos)
        << broken.name << ": " << pickle.status().message();
  }
}

TEST(Pickle, HoldsCyclesAndNamesNothingTwice) {
  // A list that contains itself and a dictionary whose values are that list.
  const Result<Pickle> pickle = read(
      PickleBuilder().op("]q\x01h\x01").op("a}(").text("x").op("h\x01").text("y").op("h\x01u\x86").stop());
  ASSERT_TRUE(pickle.ok()) << pickle.status().message();
  const auto tensors = flatten_tensors("p", pickle.value());
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  EXPECT_TRUE(tensors.value().empty());
}

// Each level holds the level below twice: entered once each, that is 60 lists and not 2⁶⁰. Too deep all the same.
TEST(Pickle, DoesNotUnfoldSharedContainers) {
  PickleBuilder pickle;
  pickle.op("](");
  pickle.op("]e");
  for (int level = 0; level < 60; ++level) pickle.op("2\x86");
  const Result<Pickle> read_back = read(pickle.stop());
  ASSERT_TRUE(read_back.ok()) << read_back.status().message();
  const auto tensors = flatten_tensors("p", read_back.value());
  ASSERT_FALSE(tensors.ok());
  EXPECT_EQ(tensors.status().code(), Code::kLimit);
  EXPECT_NE(tensors.status().message().find("nested more than 32 deep"), std::string::npos);
}

TEST(Pickle, SurvivesDeepNesting) {
  const std::string nested(300'000, '\x85');
  const Result<Pickle> pickle = read(PickleBuilder().op("N").op(nested).stop());
  ASSERT_TRUE(pickle.ok()) << pickle.status().message();
  EXPECT_EQ(flatten_tensors("p", pickle.value()).status().code(), Code::kLimit);
}

TEST(Pickle, StopsAtTooManyValues) {
  const std::string lists(limits::kPickleValues + 10, ']');
  EXPECT_EQ(read_ops(lists).status().code(), Code::kLimit);
}

// A long list that is passed to OrderedDict again and again would be copied each time.
TEST(Pickle, StopsRepeatedCopies) {
  PickleBuilder pickle;
  pickle.op("](").op("](NNeq\x01");
  for (int i = 0; i < 1000; ++i) pickle.op("h\x01");
  pickle.op("eq\x02");
  for (int i = 0; i < 1000; ++i) pickle.global("collections", "OrderedDict").op("h\x02\x85R");
  const Result<Pickle> read_back = read(pickle.stop());
  ASSERT_FALSE(read_back.ok());
  EXPECT_NE(read_back.status().message().find("copy more items than it has bytes"), std::string::npos)
      << read_back.status().message();
}

// One key of 4,000 bytes, used at every level of many paths.
TEST(Pickle, LimitsTheNamesOfTensors) {
  PickleBuilder pickle;
  pickle.text(std::string(4000, 'k'))
      .op("q\x01"
          "0");
  pickle.op("}").op("h\x01").tensor("FloatStorage", "0", 1, 0, {1}, {1}).op("q\x02s0");
  pickle.op("](");
  for (int i = 0; i < 3000; ++i) pickle.op("}h\x01h\x02s");
  pickle.op("e");
  const Result<Pickle> read_back = read(pickle.stop());
  ASSERT_TRUE(read_back.ok()) << read_back.status().message();
  const auto tensors = flatten_tensors("p", read_back.value());
  ASSERT_FALSE(tensors.ok());
  EXPECT_EQ(tensors.status().code(), Code::kLimit) << tensors.status().message();
  EXPECT_NE(tensors.status().message().find("16 times the bytes"), std::string::npos);
}

TEST(Pickle, FindsEveryTruncation) {
  const std::vector<uint8_t> whole =
      PickleBuilder().op("}").text("w").tensor("FloatStorage", "0", 1, 0, {1}, {1}).op("s").stop();
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(read({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)}).status().code(),
              Code::kTruncated)
        << length;
  }
}

}  // namespace
}  // namespace id2vec

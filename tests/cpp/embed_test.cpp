// The input stage of every architecture on tables small enough to work by hand. Each case states its formula; the
// expected floats come from the same float operations, written out. Sources: model/architectures.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "model/resolve_profile.h"
#include "small_table.h"
#include "stage/input.h"

namespace id2vec {
namespace {

using Floats = std::vector<float>;
using Ids = std::vector<uint32_t>;

constexpr float kSentinel = 12345;

Profile profile_of(std::string_view family, uint32_t hidden,
                   std::vector<std::pair<std::string, MetadataValue>> metadata = {}) {
  return resolve_profile(directory_with(std::move(metadata)), {.hidden = hidden, .architecture = family});
}

Floats embed_all(const Profile& profile, const InputStage& stage, const Ids& ids, EmbedOptions options = {}) {
  if (options.shape.length == 0) options.shape = {1, ids.size()};
  const size_t values = ids.size() * embed_width(stage);
  Floats out(values + 4, kSentinel);
  const Status status = embed(profile, stage, ids, options, std::span(out).first(values));
  EXPECT_TRUE(status.ok()) << status.message();
  for (size_t i = values; i < out.size(); ++i) EXPECT_EQ(out[i], kSentinel);
  out.resize(values);
  return out;
}

Status embed_status(const Profile& profile, const InputStage& stage, const Ids& ids,
                    EmbedOptions options = {}) {
  if (options.shape.length == 0) options.shape = {1, ids.size()};
  Floats out(ids.size() * embed_width(stage), kSentinel);
  const Status status = embed(profile, stage, ids, options, out);
  for (float value : out) EXPECT_EQ(value, kSentinel) << "something was written before the check";
  return status;
}

// The worked example of a table of 6 rows and 4 columns.
const Floats kExample = {0.10f,  -0.20f, 0.30f, 0.05f,  0.40f,  0.10f, -0.10f, 0.20f,
                         -0.30f, 0.25f,  0.15f, -0.05f, 0.05f,  0.60f, -0.40f, 0.10f,
                         0.20f,  -0.10f, 0.00f, 0.35f,  -0.15f, 0.05f, 0.45f,  -0.20f};

Floats row(const Floats& table, size_t width, size_t index) {
  return Floats(table.begin() + index * width, table.begin() + (index + 1) * width);
}

// Layer norm worked in double and rounded once.
Floats layer_norm(Floats x, double epsilon, const Floats& weight, const Floats& bias) {
  double mean = 0, variance = 0;
  for (float v : x) mean += v;
  mean /= x.size();
  for (float v : x) variance += (v - mean) * (v - mean);
  variance /= x.size();
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>((x[i] - mean) / std::sqrt(variance + epsilon) * weight[i] + bias[i]);
  }
  return x;
}

void expect_near(const Floats& actual, const Floats& expected, float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << i;
}

TEST(Embed, LlamaIsTheLookup) {
  const auto table = float_table(6, 4, kExample);
  const Floats out = embed_all(profile_of("llama", 4), {.embedding = table.get()}, {3, 1, 3});
  Floats expected = row(kExample, 4, 3);
  for (size_t id : {1, 3}) {
    const Floats next = row(kExample, 4, id);
    expected.insert(expected.end(), next.begin(), next.end());
  }
  EXPECT_EQ(out, expected);
}

// input[t] = √d · E[id] + P[t], to the last bit: P in double, rounded once; · and + are float operations.
TEST(Embed, TheOriginalTransformerToTheLastBit) {
  constexpr uint32_t kWidth = 10, kRows = 5;
  Floats values(kRows * kWidth);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(std::sin(0.37 * i) / 3);
  const auto table = float_table(kRows, kWidth, values);
  Ids ids(100);
  for (size_t t = 0; t < ids.size(); ++t) ids[t] = static_cast<uint32_t>(t * 7 % kRows);
  const Floats out = embed_all(profile_of("transformer", kWidth), {.embedding = table.get()}, ids);
  const float root = std::sqrt(10.0f);
  for (size_t t = 0; t < ids.size(); ++t) {
    for (size_t i = 0; i < kWidth; ++i) {
      const double angle = t / std::pow(10000.0, double(i / 2 * 2) / kWidth);
      const float position = static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      const float scaled = root * values[ids[t] * kWidth + i];
      EXPECT_EQ(out[t * kWidth + i], scaled + position) << "t " << t << " i " << i;
    }
  }
}

TEST(Embed, DecodingStepByStepEqualsTheWhole) {
  const auto table = float_table(6, 4, kExample);
  const Profile profile = profile_of("transformer", 4);
  const Ids ids = {3, 1, 3, 5, 0};
  const Floats whole = embed_all(profile, {.embedding = table.get()}, ids);
  for (size_t t = 0; t < ids.size(); ++t) {
    const Floats step =
        embed_all(profile, {.embedding = table.get()}, {ids[t]}, {.shape = {}, .positions = {.past = t}});
    EXPECT_EQ(step, row(whole, 4, t));
  }
}

TEST(Embed, EverySequenceOfABatchStartsAgain) {
  const auto table = float_table(6, 4, kExample);
  const Profile profile = profile_of("transformer", 4);
  const Floats one = embed_all(profile, {.embedding = table.get()}, {4, 2, 0});
  const Floats both = embed_all(profile, {.embedding = table.get()}, {4, 2, 0, 4, 2, 0}, {.shape = {2, 3}});
  EXPECT_EQ(Floats(both.begin(), both.begin() + 12), one);
  EXPECT_EQ(Floats(both.begin() + 12, both.end()), one);
}

// Far positions, so that the sinusoids cannot be shared between tokens.
TEST(Embed, ExplicitPositionsFarApart) {
  const auto table = float_table(6, 4, kExample);
  const Profile profile = profile_of("transformer", 4);
  const Ids positions = {70000, 3};
  const Floats out = embed_all(profile, {.embedding = table.get()}, {1, 1},
                               {.shape = {}, .positions = {.explicit_ids = positions}});
  EXPECT_EQ(out[0], 2 * 0.40f + static_cast<float>(std::sin(70000.0)));
  EXPECT_EQ(out[4], 2 * 0.40f + static_cast<float>(std::sin(3.0)));
}

// wte[id] + wpe[t]
TEST(Embed, Gpt2AddsItsPositionRows) {
  const auto table = float_table(6, 4, kExample),
             positions = float_table(3, 4, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const InputStage stage{.embedding = table.get(), .positions = positions.get()};
  const Profile profile = profile_of("gpt2", 4);
  EXPECT_EQ(embed_all(profile, stage, {3, 1}), (Floats{0.05f + 1, 0.60f + 2, -0.40f + 3, 0.10f + 4, 0.40f + 5,
                                                       0.10f + 6, -0.10f + 7, 0.20f + 8}));
  EXPECT_EQ(embed_all(profile, stage, {1}, {.shape = {}, .positions = {.past = 1}}),
            (Floats{0.40f + 5, 0.10f + 6, -0.10f + 7, 0.20f + 8}));
}

TEST(Embed, PermutedIdsShowThatOnlyPositionsTellOrder) {
  const auto table = float_table(6, 4, kExample), positions = float_table(2, 4, {1, 1, 1, 1, 2, 2, 2, 2});
  const Profile plain = profile_of("llama", 4), ordered = profile_of("gpt2", 4);
  const InputStage stage{.embedding = table.get(), .positions = positions.get()};
  const Floats there = embed_all(plain, stage, {3, 1}), back = embed_all(plain, stage, {1, 3});
  EXPECT_EQ(row(there, 4, 0), row(back, 4, 1));
  EXPECT_NE(row(embed_all(ordered, stage, {3, 1}), 4, 0), row(embed_all(ordered, stage, {1, 3}), 4, 1));
}

TEST(Embed, GemmaMultipliesByTheRoundedRoot) {
  const auto table = float_table(6, 4, kExample);
  const Profile bf16 = profile_of("gemma", 3072, {{"config.torch_dtype", std::string("bfloat16")}});
  EXPECT_EQ(embed_all(bf16, {.embedding = table.get()}, {1})[0], 0.40f * 55.5f);
  const Profile f32 = profile_of("gemma", 3072);
  EXPECT_EQ(embed_all(f32, {.embedding = table.get()}, {1})[0], 0.40f * std::sqrt(3072.0f));
}

TEST(Embed, GraniteGrokAndMiniCpmMultiply) {
  const auto table = float_table(6, 4, kExample);
  const Profile granite = profile_of("granite", 4, {{"config.embedding_multiplier", 12.0}});
  EXPECT_EQ(embed_all(granite, {.embedding = table.get()}, {1})[0], 0.40f * 12);
  EXPECT_EQ(embed_all(profile_of("grok", 4), {.embedding = table.get()}, {1})[0], 0.40f * 78.38367176906169f);
  EXPECT_EQ(embed_all(profile_of("minicpm", 4), {.embedding = table.get()}, {1})[0], 0.40f * 12);
}

// The per-layer table is scaled by √256 and shorter than the vocabulary: ids beyond it read row 0.
TEST(Embed, Gemma3nPerLayerRows) {
  const auto table = float_table(2, 3, {1, 2, 3, 4, 5, 6});
  Floats out(9);
  const Profile profile = profile_of("gemma3n", 2048);
  ASSERT_TRUE(embed_per_layer(profile, *table, Ids{1, 7, 0}, out).ok());
  EXPECT_EQ(out, (Floats{64, 80, 96, 16, 32, 48, 16, 32, 48}));
}

const Floats kWeight = {1.5f, 0.5f, -1, 2}, kBias = {0.1f, 0, -0.2f, 0.3f};

// LayerNorm(word + type + position)
TEST(Embed, BertAddsTypesAndPositionsThenNormalizes) {
  const auto table = float_table(6, 4, kExample), positions = float_table(2, 4, {1, 0, 0, 0, 0, 2, 0, 0}),
             types = float_table(2, 4, {0.5f, 0.5f, 0, 0, 0, 0, 0.25f, 1});
  const InputStage stage{.embedding = table.get(),
                         .positions = positions.get(),
                         .token_types = types.get(),
                         .norm = {kWeight, kBias}};
  const Profile profile = profile_of("bert", 4);
  const auto expect = [&](const Floats& actual, size_t t, const Floats& x) {
    expect_near(row(actual, 4, t), layer_norm(x, 1e-12, kWeight, kBias), 1e-6f);
  };
  const Floats out = embed_all(profile, stage, {3, 1});
  expect(out, 0, {0.05f + 0.5f + 1, 0.60f + 0.5f, -0.40f, 0.10f});
  expect(out, 1, {0.40f + 0.5f, 0.10f + 0.5f + 2, -0.10f, 0.20f});
  const Ids second = {0, 1};
  const Floats typed = embed_all(profile, stage, {3, 1}, {.shape = {}, .token_types = second});
  expect(typed, 1, {0.40f, 0.10f + 2, -0.10f + 0.25f, 0.20f + 1});
}

// Pads stay at row 1, the others count from row 2 over the pads.
TEST(Embed, RobertaSkipsItsPads) {
  constexpr uint32_t kPad = 1;
  const auto table = float_table(6, 1, {0, 0, 0, 0, 0, 0}),
             positions = float_table(6, 1, {0, 10, 20, 30, 40, 50});
  Profile profile = profile_of("roberta", 1);
  profile.norm = Norm::kNone;  // keeps the rows readable
  const InputStage stage{.embedding = table.get(), .positions = positions.get()};
  EXPECT_EQ(embed_all(profile, stage, {0, 5, kPad, 4}), (Floats{20, 30, 10, 40}));
  EXPECT_EQ(embed_all(profile, stage, {kPad, kPad, 0, 5}), (Floats{10, 10, 20, 30}));
  EXPECT_EQ(embed_all(profile, stage, {5}, {.shape = {}, .positions = {.past = 2}}), (Floats{40}));
}

// positions = cumsum(mask) · mask − 1 + 2, so that masked tokens read row 1.
TEST(Embed, OptCountsTheMask) {
  const auto table = float_table(6, 1, {0, 0, 0, 0, 0, 0}),
             positions = float_table(6, 1, {0, 10, 20, 30, 40, 50});
  const Profile profile = profile_of("opt", 1);
  const InputStage stage{.embedding = table.get(), .positions = positions.get()};
  const std::vector<uint8_t> mask = {0, 0, 1, 1};
  EXPECT_EQ(embed_all(profile, stage, {1, 1, 3, 4}), (Floats{20, 30, 40, 50}));
  EXPECT_EQ(embed_all(profile, stage, {1, 1, 3, 4}, {.shape = {}, .positions = {.attention_mask = mask}}),
            (Floats{10, 10, 20, 30}));
}

// opt-350m: project_in (r = 2 → d = 3) comes before the positions, which have width 3.
TEST(Embed, OptProjectsBeforeItAddsPositions) {
  const auto table = float_table(2, 2, {1, 2, 3, 4}), project_in = float_table(3, 2, {1, 0, 0, 1, 1, 1}),
             positions = float_table(4, 3, {0, 0, 0, 0, 0, 0, 10, 20, 30, 40, 50, 60});
  const InputStage stage{
      .embedding = table.get(), .positions = positions.get(), .projection = {.matrix = project_in.get()}};
  EXPECT_EQ(embed_all(profile_of("opt", 3), stage, {1, 0}), (Floats{13, 24, 37, 41, 52, 63}));
}

// ALBERT: rows, types and positions of width 2, LayerNorm at that width, then a projection with a bias to 3.
TEST(Embed, AlbertNormalizesThenProjects) {
  const auto table = float_table(2, 2, {1, 2, 5, 4}), positions = float_table(2, 2, {1, 0, 0, 1}),
             types = float_table(2, 2, {0, 1, 1, 0}), mapping = float_table(3, 2, {1, 0, 0, 1, 2, -1});
  const Floats weight = {2, 1}, bias = {0, 1}, offset = {10, 20, 30};
  const InputStage stage{.embedding = table.get(),
                         .positions = positions.get(),
                         .token_types = types.get(),
                         .norm = {weight, bias},
                         .projection = {.matrix = mapping.get(), .bias = offset}};
  // id 1 at position 0, type 0: (5 + 0 + 1, 4 + 1 + 0) = (6, 5) → normalized (1, −1) → (2, 0) → (12, 20, 34)
  expect_near(embed_all(profile_of("albert", 3), stage, {1}), {12, 20, 34}, 1e-5f);
}

// BART: √d where flagged, rows of the position table from 2 on, LayerNorm.
TEST(Embed, BartScalesOffsetsAndNormalizes) {
  const auto table = float_table(6, 4, kExample),
             positions = float_table(4, 4, {9, 9, 9, 9, 9, 9, 9, 9, 1, 0, 0, 0, 0, 2, 0, 0});
  const InputStage stage{.embedding = table.get(), .positions = positions.get(), .norm = {kWeight, kBias}};
  const Profile profile = profile_of("mbart", 4, {{"config.scale_embedding", true}});
  const Floats out = embed_all(profile, stage, {3, 1});
  expect_near(row(out, 4, 0), layer_norm({0.10f + 1, 1.20f, -0.80f, 0.20f}, 1e-5, kWeight, kBias), 1e-6f);
  expect_near(row(out, 4, 1), layer_norm({0.80f, 0.20f + 2, -0.20f, 0.40f}, 1e-5, kWeight, kBias), 1e-6f);
}

// Marian: sin in the first half, cos in the second; with an odd width the sines are one more.
TEST(Embed, MarianHasHalves) {
  const auto table = float_table(1, 4, {0, 0, 0, 0}), odd = float_table(1, 5, {0, 0, 0, 0, 0});
  const Profile profile = profile_of("marian", 4);
  const Floats out = embed_all(profile, {.embedding = table.get()}, {0, 0});
  EXPECT_EQ(out, (Floats{0, 0, 1, 1, float(std::sin(1.0)), float(std::sin(0.01)), float(std::cos(1.0)),
                         float(std::cos(0.01))}));
  const Floats five = embed_all(profile, {.embedding = odd.get()}, {0, 0});
  EXPECT_EQ(five[5], float(std::sin(1.0)));
  EXPECT_EQ(five[7], float(std::sin(1 / std::pow(10000.0, 4.0 / 5))));
  EXPECT_EQ(five[8], float(std::cos(1.0)));
}

TEST(Embed, WhisperDecoderAddsPositionsFromZero) {
  const auto table = float_table(2, 2, {1, 2, 3, 4}), positions = float_table(2, 2, {10, 20, 30, 40});
  const InputStage stage{.embedding = table.get(), .positions = positions.get()};
  EXPECT_EQ(embed_all(profile_of("whisper", 2), stage, {1, 0}), (Floats{13, 24, 31, 42}));
}

TEST(Embed, BloomNormalizesTheRow) {
  const auto table = float_table(6, 4, kExample);
  const InputStage stage{.embedding = table.get(), .norm = {kWeight, kBias}};
  expect_near(embed_all(profile_of("bloom", 4), stage, {3}),
              layer_norm(row(kExample, 4, 3), 1e-5, kWeight, kBias), 1e-6f);
}

TEST(Embed, RmsNormHasNoMean) {
  const auto table = float_table(1, 2, {3, 4});
  const Floats weight = {1, 2};
  Profile profile;
  profile.norm = Norm::kRmsNorm;
  profile.norm_epsilon = 0;
  const Floats out = embed_all(profile, {.embedding = table.get(), .norm = {weight}}, {0});
  expect_near(out, {3 / std::sqrt(12.5f), 8 / std::sqrt(12.5f)}, 1e-6f);
}

// More tokens than one tile, every tile boundary included.
TEST(Embed, ManyTokensEqualOneByOne) {
  const auto table = float_table(6, 4, kExample),
             mapping = float_table(3, 4, {1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, -1});
  const InputStage stage{
      .embedding = table.get(), .norm = {kWeight, kBias}, .projection = {.matrix = mapping.get()}};
  const Profile profile = profile_of("bloom", 4);
  for (size_t count : {31, 32, 33, 64, 65}) {
    Ids ids(count);
    for (size_t i = 0; i < count; ++i) ids[i] = static_cast<uint32_t>(i * 5 % 6);
    const Floats out = embed_all(profile, stage, ids);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(row(out, 3, i), embed_all(profile, stage, {ids[i]})) << i;
  }
}

// Rows that the caller fetched itself go through the same steps.
TEST(Embed, GivenRowsStandForTheTable) {
  const auto table = float_table(6, 4, kExample), elsewhere = float_table(6, 4, Floats(24));
  const Profile profile = profile_of("transformer", 4);
  const Ids ids = {3, 1};
  Floats rows = row(kExample, 4, 3);
  const Floats next = row(kExample, 4, 1);
  rows.insert(rows.end(), next.begin(), next.end());
  EXPECT_EQ(embed_all(profile, {.embedding = elsewhere.get()}, ids, {.shape = {}, .rows = rows}),
            embed_all(profile, {.embedding = table.get()}, ids));
  EXPECT_EQ(embed_status(profile, {.embedding = table.get()}, {3}, {.shape = {}, .rows = rows}).code(),
            Code::kInvalidArgument);
}

TEST(Embed, RefusesBeforeItWrites) {
  const auto table = float_table(6, 4, kExample), positions = float_table(2, 4, {1, 1, 1, 1, 2, 2, 2, 2}),
             narrow = float_table(2, 3, {1, 1, 1, 1, 1, 1});
  const Profile gpt2 = profile_of("gpt2", 4), llama = profile_of("llama", 4);
  const InputStage stage{.embedding = table.get(), .positions = positions.get()};
  const Ids forty(40, 0);
  Ids late = forty;
  late.back() = 6;
  EXPECT_EQ(embed_status(llama, stage, late).code(), Code::kOutOfRange);
  EXPECT_NE(embed_status(llama, stage, late).message().find("39"), std::string::npos);
  const Status far = embed_status(gpt2, stage, {0, 1, 2});
  EXPECT_EQ(far.code(), Code::kOutOfRange);
  EXPECT_NE(far.message().find("osition 2 at index 2"), std::string::npos) << far.message();
  EXPECT_EQ(embed_status(gpt2, {.embedding = table.get()}, {0}).code(), Code::kNotFound);
  EXPECT_EQ(embed_status(gpt2, {.embedding = table.get(), .positions = narrow.get()}, {0}).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(embed_status(profile_of("bloom", 4), stage, {0}).code(), Code::kNotFound);
  const Ids types = {0};
  EXPECT_EQ(embed_status(llama, stage, {0}, {.shape = {}, .token_types = types}).code(),
            Code::kInvalidArgument);
  const std::vector<uint8_t> mask = {1, 1};
  EXPECT_EQ(embed_status(gpt2, stage, {0}, {.shape = {}, .positions = {.attention_mask = mask}}).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(embed_status(gpt2, stage, {0}, {.shape = {}, .positions = {.past = uint64_t{1} << 40}}).code(),
            Code::kOutOfRange);
}

}  // namespace
}  // namespace id2vec

// Each row of the table of architectures, both ends, on a model of two dimensions that can be worked by head. A row without
// a case here fails. The formulas are those of the source that the row names (model/architectures.cpp); what is particular
// to one family is looked at more closely in embed_test.cpp and output_stage_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "model/architectures.h"
#include "model/resolve_profile.h"
#include "small_table.h"
#include "stage/input.h"
#include "stage/output.h"

namespace id2vec {
namespace {

using Floats = std::vector<float>;
using Metadata = std::vector<std::pair<std::string, MetadataValue>>;

constexpr float kRoot = 1.41421356f, kTolerance = 1e-4f;

// Two tokens, ids 1 and 0: rows (5, 4) and (1, 3). Whatever a model may have lies ready; the profile chooses. Layer norm
// makes of two values −1 for the smaller and 1 for the greater one, then × (2, 1) + (0, 1).
const Floats kRows = {1, 3, 5, 4};
const Floats kPositions = {0, 0, 10, 0, 0, 20, 30, 0, 0, 40};
const Floats kTypes = {0, 7, 1, 1};
const Floats kWeight = {2, 1}, kBias = {0, 1};
const Floats kFirstGreater = {2, 0}, kSecondGreater = {-2, 2};
// ALBERT's projection from 2 to 3.
const Floats kMapping = {1, 0, 0, 1, 1, 1}, kMappingBias = {10, 20, 30};

// Dot products of h = (3, 5) with the head's rows: (3, 5, 8, 1).
const Floats kHead = {1, 0, 0, 1, 1, 1, 2, -1}, kHidden = {3, 5}, kDots = {3, 5, 8, 1};
const Floats kHeadBias = {0, 10, 0, 100};
// With a prediction head, h = (−3, −0.5) through an identity: GELU makes the smaller one the greater (−0.004, −0.154), so
// layer norm gives (1, −1), × (2, 1) + (0, 1) is (2, 0), and dot products are (2, 0, 2, 4). Where a family's own epsilon would
// show beside so small a difference, the file states a smaller one.
const Floats kNegative = {-3, -0.5f}, kTransformed = {2, 0, 2, 4};

enum class Head : uint8_t { kPlain, kBias, kTransform };

struct Case {
  std::string_view family;
  Floats input;
  Floats output;
  Metadata metadata{};
  bool types = false;
  Head head = Head::kPlain;
};

Floats operator*(Floats values, double factor) {
  for (float& value : values) value = static_cast<float>(value * factor);
  return values;
}

Floats capped(double cap) {
  Floats out = kDots;
  for (float& value : out) value = static_cast<float>(cap * std::tanh(value / cap));
  return out;
}

Floats joined(Floats a, const Floats& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Case> cases() {
  const Floats lookup = {5, 4, 1, 3}, with_positions = {5, 4, 11, 3};
  const auto sine = static_cast<float>(std::sin(1.0)), cosine = static_cast<float>(std::cos(1.0));
  // √2 · row + (sin t, cos t): in two dimensions interleaved and in halves are the same
  const Floats sinusoidal = {5 * kRoot, 4 * kRoot + 1, kRoot + sine, 3 * kRoot + cosine};
  const MetadataValue yes = true;
  return {
      {"transformer", sinusoidal, kDots},
      {"gpt2", with_positions, kDots},
      {"llama", lookup, kDots},
      {"phi2", lookup, {3, 15, 8, 101}, {}, false, Head::kBias},
      {"gemma", lookup * kRoot, kDots},
      {"gemma2", lookup * kRoot, capped(30)},
      {"gemma3n", lookup * kRoot, capped(30)},
      {"gemma4", lookup * kRoot, capped(10), {{"config.final_logit_softcapping", 10.0}}},
      {"t5", lookup, kDots * (1 / std::sqrt(2.0))},
      // (5, 11) and (11, 10)
      {"bert", joined(kSecondGreater, kFirstGreater), kTransformed, {}, true, Head::kTransform},
      // Id 1 is padding and stays at row 1, id 0 reads row 2: (15, 11) and (1, 30)
      {"roberta",
       joined(kFirstGreater, kSecondGreater),
       kTransformed,
       {{"config.layer_norm_eps", 1e-12}},
       true,
       Head::kTransform},
      // No rows of positions: (5, 11) and (1, 10)
      {"nomic-bert", joined(kSecondGreater, kSecondGreater), kTransformed, {}, true, Head::kTransform},
      // Nor token types: (5, 4) and (1, 3)
      {"modernbert",
       joined(kFirstGreater, kSecondGreater),
       kTransformed,
       {{"config.norm_eps", 1e-12}},
       false,
       Head::kTransform},
      // As BERT, then (−2, 2) and (2, 0) through the projection
      {"albert", {8, 22, 30, 12, 20, 32}, kTransformed, {}, true, Head::kTransform},
      // Rows of positions from 2 on
      {"opt", {5, 24, 31, 3}, kDots},
      // (7.1, 25.7) and (31.4, 4.2)
      {"bart",
       joined(kSecondGreater, kFirstGreater),
       {3, 15, 8, 101},
       {{"config.scale_embedding", yes}},
       false,
       Head::kBias},
      {"marian", sinusoidal, {3, 15, 8, 101}, {{"config.scale_embedding", yes}}, false, Head::kBias},
      {"whisper", with_positions, kDots},
      {"bloom", joined(kFirstGreater, kSecondGreater), kDots},
      {"granite",
       lookup * 3,
       kDots * 0.25,
       {{"config.embedding_multiplier", 3.0}, {"config.logits_scaling", 4.0}}},
      {"cohere", lookup, kDots * 0.0625},
      {"grok", lookup * 78.38367176906169, kDots * 0.5773502691896257},
      {"minicpm", lookup * 12, kDots * 0.5, {{"config.dim_model_base", int64_t{1}}}},
      {"falcon-h1",
       lookup * 0.5,
       kDots * 0.25,
       {{"config.embedding_multiplier", 0.5}, {"config.lm_head_multiplier", 0.25}}},
      {"static", lookup, kDots},
  };
}

Profile profile_of(const Case& row, uint32_t hidden) {
  return resolve_profile(directory_with(row.metadata),
                         {.hidden = hidden, .tied = true, .architecture = row.family});
}

void expect_near(const Floats& actual, const Floats& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], kTolerance * std::max(1.0f, std::fabs(expected[i]))) << i;
  }
}

TEST(Families, EveryRowHasACase) {
  std::multiset<std::string_view> tried, known;
  for (const Case& row : cases()) tried.insert(row.family);
  for (const Architecture& row : architectures()) known.insert(row.family);
  EXPECT_EQ(tried, known);
}

TEST(Families, InputSide) {
  const auto table = float_table(2, 2, kRows), positions = float_table(5, 2, kPositions),
             types = float_table(2, 2, kTypes), mapping = float_table(3, 2, kMapping);
  const std::vector<uint32_t> ids = {1, 0};
  for (const Case& row : cases()) {
    SCOPED_TRACE(row.family);
    InputStage stage{.embedding = table.get(), .positions = positions.get(), .norm = {kWeight, kBias}};
    if (row.types) stage.token_types = types.get();
    const bool projected = row.family == "albert";
    if (projected) stage.projection = {.matrix = mapping.get(), .bias = kMappingBias};
    Floats out(row.input.size());
    const Status status =
        embed(profile_of(row, projected ? 3 : 2), stage, ids, {.shape = {1, ids.size()}}, out);
    ASSERT_TRUE(status.ok()) << status.message();
    expect_near(out, row.input);
  }
}

TEST(Families, OutputSide) {
  const auto head = float_table(4, 2, kHead), identity = float_table(2, 2, {1, 0, 0, 1}),
             first_two = float_table(2, 3, {1, 0, 0, 0, 1, 0});
  for (const Case& row : cases()) {
    SCOPED_TRACE(row.family);
    OutputStage stage{.head = head.get()};
    Floats hidden = row.head == Head::kTransform ? kNegative : kHidden;
    if (row.head == Head::kBias) stage.bias = kHeadBias;
    if (row.head == Head::kTransform) {
      stage.projection = {.matrix = identity.get()};
      stage.norm = {kWeight, kBias};
    }
    if (row.family == "albert") {
      stage.projection = {.matrix = first_two.get()};
      hidden.push_back(9);
    }
    Floats out(row.output.size());
    const Status status =
        head_logits(profile_of(row, static_cast<uint32_t>(hidden.size())), stage, hidden, {}, out);
    ASSERT_TRUE(status.ok()) << status.message();
    expect_near(out, row.output);
  }
}

}  // namespace
}  // namespace id2vec

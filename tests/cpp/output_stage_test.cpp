// The output stage of every architecture, on heads small enough to work by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/resolve_profile.h"
#include "random_table.h"
#include "small_table.h"
#include "stage/output.h"

namespace id2vec {
namespace {

using Floats = std::vector<float>;
using Ids = std::vector<uint32_t>;

constexpr float kSentinel = 12345, kInfinity = std::numeric_limits<float>::infinity();

Profile profile_of(std::string_view family, uint32_t hidden, bool tied = true,
                   std::vector<std::pair<std::string, MetadataValue>> metadata = {}) {
  return resolve_profile(directory_with(std::move(metadata)),
                         {.hidden = hidden, .tied = tied, .architecture = family});
}

Floats logits_of(const Profile& profile, const OutputStage& stage, const Floats& hidden,
                 const OutputOptions& options = {}) {
  const size_t ids = options.allowed.empty() ? stage.head->spec().rows : options.allowed.size();
  const size_t values = hidden.size() / hidden_width(stage) * ids;
  Floats out(values + 2, kSentinel);
  const Status status = head_logits(profile, stage, hidden, options, std::span(out).first(values));
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out[values], kSentinel);
  out.resize(values);
  return out;
}

struct Found {
  Floats values;
  std::vector<int32_t> indices;
};
Found top_k_of(const Profile& profile, const OutputStage& stage, const Floats& hidden, size_t k,
               const OutputOptions& options = {}) {
  const size_t count = hidden.size() / hidden_width(stage) * k;
  Found found{Floats(count, kSentinel), std::vector<int32_t>(count, -7)};
  const Status status =
      head_top_k(profile, stage, hidden, k, options, {found.values.data(), found.indices.data(), nullptr});
  EXPECT_TRUE(status.ok()) << status.message();
  return found;
}

// W = [[1, 0], [0, 1], [1, 1], [2, −1]], h = (3, 5) → dots (3, 5, 8, 1)
std::unique_ptr<Table> four_rows() { return float_table(4, 2, {1, 0, 0, 1, 1, 1, 2, -1}); }
const Floats kHidden = {3, 5}, kDots = {3, 5, 8, 1};

TEST(OutputStage, PlainFamiliesGiveTheDotProduct) {
  const auto head = four_rows();
  for (const char* family : {"llama", "gpt2", "gemma", "whisper", "bloom", "transformer", "opt"}) {
    EXPECT_EQ(logits_of(profile_of(family, 2), {.head = head.get()}, kHidden), kDots) << family;
  }
}

// sequence_output · d^−0.5 where tied; with d = 4 that is a half.
TEST(OutputStage, T5ScalesHiddenWhereTied) {
  const auto head = float_table(2, 4, {1, 0, 0, 0, 1, 1, 1, 1});
  const Floats hidden = {2, 4, 6, 8};
  EXPECT_EQ(logits_of(profile_of("t5", 4), {.head = head.get()}, hidden), (Floats{1, 10}));
  EXPECT_EQ(logits_of(profile_of("t5", 4, false), {.head = head.get()}, hidden), (Floats{2, 20}));
}

TEST(OutputStage, GraniteDividesCohereMultiplies) {
  const auto head = four_rows();
  const Profile granite = profile_of("granite", 2, true, {{"config.logits_scaling", 8.0}});
  EXPECT_EQ(logits_of(granite, {.head = head.get()}, kHidden), (Floats{0.375f, 0.625f, 1, 0.125f}));
  const Profile cohere = profile_of("cohere", 2, true, {{"config.logit_scale", 8.0}});
  EXPECT_EQ(logits_of(cohere, {.head = head.get()}, kHidden), (Floats{24, 40, 64, 8}));
}

TEST(OutputStage, GrokScalesThenCaps) {
  const auto head = four_rows();
  const float scale = 0.5773502691896257f;
  EXPECT_EQ(logits_of(profile_of("grok", 2), {.head = head.get()}, kHidden)[2], 8 * scale);
  const Profile capped = profile_of("grok", 2, true, {{"config.final_logit_softcapping", 2.0}});
  EXPECT_FLOAT_EQ(logits_of(capped, {.head = head.get()}, kHidden)[2], 2 * std::tanh(8 * scale / 2));
}

// h / (hidden_size / dim_model_base)
TEST(OutputStage, MiniCpmShrinksHidden) {
  const auto head = four_rows();
  const Profile profile = profile_of("minicpm", 2, true, {{"config.dim_model_base", int64_t{1}}});
  EXPECT_EQ(logits_of(profile, {.head = head.get()}, kHidden), (Floats{1.5f, 2.5f, 4, 0.5f}));
}

TEST(OutputStage, Gemma2Caps) {
  const auto head = four_rows();
  const Profile profile = profile_of("gemma2", 2, true, {{"config.final_logit_softcapping", 4.0}});
  const Floats out = logits_of(profile, {.head = head.get()}, kHidden);
  for (size_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(out[i], 4 * std::tanh(kDots[i] / 4)) << i;
}

// BART, Marian: final_logits_bias; Phi-2, GPT-J: lm_head.bias. It comes after everything else.
TEST(OutputStage, TheBiasComesLast) {
  const auto head = four_rows();
  const Floats bias = {0, 10, 0, 100};
  for (const char* family : {"bart", "marian", "phi2"}) {
    EXPECT_EQ(logits_of(profile_of(family, 2), {.head = head.get(), .bias = bias}, kHidden),
              (Floats{3, 15, 8, 101}));
  }
  Profile capped;
  capped.logit_scale = 2;
  capped.softcap = 4;
  const Floats out = logits_of(capped, {.head = head.get(), .bias = bias}, kHidden);
  EXPECT_FLOAT_EQ(out[3], 4 * std::tanh(2.0f / 4) + 100);
  // The ranking follows the bias as well.
  EXPECT_EQ(top_k_of(capped, {.head = head.get(), .bias = bias}, kHidden, 2).indices,
            (std::vector<int32_t>{3, 1}));
}

// BertLMPredictionHead: LayerNorm(gelu(dense(h))) · Wᵀ + bias
TEST(OutputStage, BertTransforms) {
  const auto head = four_rows(), dense = float_table(2, 2, {1, 0, 0, 2});
  const Floats dense_bias = {0.5f, -1}, weight = {2, 3}, norm_bias = {0.25f, 0}, bias = {0, 0, 0, 7};
  const OutputStage stage{.head = head.get(),
                          .projection = {.matrix = dense.get(), .bias = dense_bias},
                          .norm = {weight, norm_bias},
                          .bias = bias};
  const auto gelu = [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); };
  const double a = gelu(3.5), b = gelu(9), mean = (a + b) / 2,
               deviation = std::sqrt((b - a) * (b - a) / 4 + 1e-12);
  const double x = (a - mean) / deviation * 2 + 0.25, y = (b - mean) / deviation * 3;
  const Floats out = logits_of(profile_of("bert", 2), stage, kHidden);
  EXPECT_NEAR(out[0], x, 1e-5);
  EXPECT_NEAR(out[1], y, 1e-5);
  EXPECT_NEAR(out[2], x + y, 1e-5);
  EXPECT_NEAR(out[3], 2 * x - y + 7, 1e-5);
}

// AlbertMLMHead: dense from 3 to the width of the rows (2), gelu_new, LayerNorm, decoder + bias
TEST(OutputStage, AlbertGoesBackToTheWidthOfItsRows) {
  const auto head = four_rows(), dense = float_table(2, 3, {1, 0, 0, 0, 1, 1});
  const Floats weight = {1, 1}, zero = {0, 0};
  const OutputStage stage{
      .head = head.get(), .projection = {.matrix = dense.get(), .bias = zero}, .norm = {weight, zero}};
  EXPECT_EQ(hidden_width(stage), 3u);
  const Floats out = logits_of(profile_of("albert", 3), stage, {1, 2, 3});
  EXPECT_NEAR(out[0], -1, 1e-5);  // of two values layer norm makes ∓1
  EXPECT_NEAR(out[1], 1, 1e-5);
}

// OPT: project_out before the tied head, and nothing else.
TEST(OutputStage, OptProjectsOut) {
  const auto head = four_rows(), project_out = float_table(2, 3, {1, 0, 1, 0, 1, 0});
  const OutputStage stage{.head = head.get(), .projection = {.matrix = project_out.get()}};
  EXPECT_EQ(logits_of(profile_of("opt", 3), stage, {1, 5, 2}), kDots);  // (1 + 2, 5) = (3, 5)
}

// A factorized table: logits = (h · Bᵀ) · Aᵀ with the one matrix Bᵀ [d, k] that lookup uses as well.
TEST(OutputStage, AFactorizedHeadUsesItsProjectionTransposed) {
  const auto head = four_rows(), b_transposed = float_table(3, 2, {1, 0, 0, 1, 1, 0});
  const OutputStage stage{.head = head.get(),
                          .projection = {.matrix = b_transposed.get(), .transposed = true}};
  EXPECT_EQ(logits_of({}, stage, {1, 5, 2}), kDots);
  EXPECT_EQ(logits_of({}, stage, {1, 5, 2, 0, 0, 0}).size(), 8u);
}

TEST(OutputStage, IdsBeyondTheTokenizerAndForbiddenOnesNeverWin) {
  const auto head = four_rows();
  const Ids forbidden = {2}, allowed = {3, 0};
  EXPECT_EQ(logits_of({}, {.head = head.get()}, kHidden, {.limit = 2}),
            (Floats{3, 5, -kInfinity, -kInfinity}));
  EXPECT_EQ(logits_of({}, {.head = head.get()}, kHidden, {.forbidden = forbidden}),
            (Floats{3, 5, -kInfinity, 1}));
  EXPECT_EQ(logits_of({}, {.head = head.get()}, kHidden, {.allowed = allowed}), (Floats{1, 3}));
  EXPECT_EQ(top_k_of({}, {.head = head.get()}, kHidden, 2, {.limit = 2}).indices,
            (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(top_k_of({}, {.head = head.get()}, kHidden, 2, {.forbidden = forbidden}).indices,
            (std::vector<int32_t>{1, 0}));
  const Found few = top_k_of({}, {.head = head.get()}, kHidden, 3, {.allowed = allowed});
  EXPECT_EQ(few.indices, (std::vector<int32_t>{0, 3, -1}));
  EXPECT_EQ(few.values, (Floats{3, 1, -kInfinity}));
}

TEST(OutputStage, SoftmaxIsOverWhatCompetes) {
  const auto head = four_rows();
  const Ids forbidden = {2};
  const OutputOptions options{.forbidden = forbidden, .temperature = 2, .scores = Scores::kSoftmax};
  const double total = std::exp(1.5) + std::exp(2.5) + std::exp(0.5);
  const Floats out = logits_of({}, {.head = head.get()}, kHidden, options);
  EXPECT_NEAR(out[0], std::exp(1.5) / total, 1e-6);
  EXPECT_NEAR(out[1], std::exp(2.5) / total, 1e-6);
  EXPECT_EQ(out[2], 0);
  EXPECT_NEAR(out[3], std::exp(0.5) / total, 1e-6);
  const Found found = top_k_of({}, {.head = head.get()}, kHidden, 4, options);
  EXPECT_EQ(found.indices, (std::vector<int32_t>{1, 0, 3, -1}));
  EXPECT_NEAR(found.values[0], std::exp(2.5) / total, 1e-6);
  EXPECT_EQ(found.values[3], 0);
  OutputOptions logs = options;
  logs.scores = Scores::kLogSoftmax;
  EXPECT_NEAR(top_k_of({}, {.head = head.get()}, kHidden, 1, logs).values[0], 2.5 - std::log(total), 1e-6);
}

// Whatever the profile does, top-k is logits sorted, also for vectors by the dozen.
TEST(OutputStage, TopKIsLogitsSorted) {
  const auto head = random_table<Q8_0>(*kernel_table("auto"), 3000, 64);
  const Floats hidden = random_floats(20 * 64, 3), bias = random_floats(3000, 4);
  Profile plain, capped;
  capped.logit_scale = 0.5;
  capped.softcap = 20;
  const Ids forbidden = {5, 77, 2999};
  const OutputOptions options[] = {
      {}, {.limit = 1000}, {.forbidden = forbidden, .temperature = 0.7}, {.scores = Scores::kLogSoftmax}};
  for (const Profile& profile : {plain, capped}) {
    for (const OutputStage& stage :
         {OutputStage{.head = head.get()}, OutputStage{.head = head.get(), .bias = bias}}) {
      for (const OutputOptions& option : options) {
        const Floats all = logits_of(profile, stage, hidden, option);
        const Found best = top_k_of(profile, stage, hidden, 7, option);
        for (size_t v = 0; v < 20; ++v) {
          std::vector<int32_t> order(3000);
          for (int32_t i = 0; i < 3000; ++i) order[i] = i;
          const float* z = all.data() + v * 3000;
          std::stable_sort(order.begin(), order.end(), [z](int32_t a, int32_t b) { return z[a] > z[b]; });
          for (size_t i = 0; i < 7; ++i) {
            EXPECT_FLOAT_EQ(best.values[v * 7 + i], z[order[i]]);
            EXPECT_FLOAT_EQ(z[best.indices[v * 7 + i]], z[order[i]]);
          }
        }
      }
    }
  }
}

TEST(OutputStage, RefusesWhatDoesNotFit) {
  const auto head = four_rows(), wide = float_table(3, 2, {1, 0, 0, 1, 1, 1});
  const auto code = [&](const Profile& profile, const OutputStage& stage, const Floats& hidden,
                        OutputOptions options) {
    Floats out(4, kSentinel);
    const Status status = head_logits(profile, stage, hidden, options, out);
    EXPECT_EQ(std::count(out.begin(), out.end(), kSentinel), 4);
    return status.code();
  };
  const Ids outside = {4};
  const Floats long_bias(5);
  EXPECT_EQ(code({}, {.head = head.get()}, {1, 2, 3}, {}), Code::kInvalidArgument);
  EXPECT_EQ(code({}, {.head = head.get()}, kHidden, {.temperature = 0}), Code::kInvalidArgument);
  EXPECT_EQ(code({}, {.head = head.get()}, kHidden, {.allowed = outside}), Code::kOutOfRange);
  EXPECT_EQ(code({}, {.head = head.get()}, kHidden, {.forbidden = outside}), Code::kOutOfRange);
  EXPECT_EQ(code({}, {.head = head.get(), .bias = long_bias}, kHidden, {}), Code::kInvalidArgument);
  EXPECT_EQ(code({}, {.head = head.get(), .projection = {.matrix = wide.get()}}, kHidden, {}),
            Code::kInvalidArgument);
  EXPECT_EQ(
      code(profile_of("bert", 2), {.head = head.get(), .projection = {.matrix = head.get()}}, kHidden, {}),
      Code::kInvalidArgument);
}

}  // namespace
}  // namespace id2vec

#include "training/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace id2vec {
namespace {

constexpr OptimizerKind kAll[] = {OptimizerKind::kSgd,     OptimizerKind::kMomentum,
                                  OptimizerKind::kAdagrad, OptimizerKind::kRowwiseAdagrad,
                                  OptimizerKind::kAdam,    OptimizerKind::kAdamW};

// The update rules of optimizer.h in double precision, one row, straight from the formulas.
class Reference {
 public:
  Reference(const OptimizerOptions& options, std::vector<double> weights)
      : o_(options), w(std::move(weights)), first(w.size(), options.initial_accumulator), second(w.size()) {
    if (o_.kind == OptimizerKind::kMomentum || o_.kind == OptimizerKind::kAdam ||
        o_.kind == OptimizerKind::kAdamW) {
      first.assign(w.size(), 0);
    }
  }

  void step(const std::vector<float>& gradient) {
    ++t;
    const double lr = o_.learning_rate, decay = o_.weight_decay;
    double mean_square = 0;
    for (size_t i = 0; i < w.size(); ++i) mean_square += std::pow(gradient[i] + decay * w[i], 2) / w.size();
    if (o_.kind == OptimizerKind::kRowwiseAdagrad) first[0] += mean_square;
    for (size_t i = 0; i < w.size(); ++i) {
      double g = gradient[i];
      if (o_.kind == OptimizerKind::kAdamW) {
        w[i] -= lr * decay * w[i];
      } else {
        g += decay * w[i];
      }
      switch (o_.kind) {
        case OptimizerKind::kSgd: w[i] -= lr * g; break;
        case OptimizerKind::kMomentum:
          first[i] = o_.momentum * first[i] + g;
          w[i] -= lr * first[i];
          break;
        case OptimizerKind::kAdagrad:
          first[i] += g * g;
          w[i] -= lr * g / (std::sqrt(first[i]) + o_.epsilon);
          break;
        case OptimizerKind::kRowwiseAdagrad: w[i] -= lr * g / (std::sqrt(first[0]) + o_.epsilon); break;
        case OptimizerKind::kAdam:
        case OptimizerKind::kAdamW: {
          first[i] = o_.beta1 * first[i] + (1 - o_.beta1) * g;
          second[i] = o_.beta2 * second[i] + (1 - o_.beta2) * g * g;
          const double m = first[i] / (1 - std::pow(o_.beta1, t)),
                       v = second[i] / (1 - std::pow(o_.beta2, t));
          w[i] -= lr * m / (std::sqrt(v) + o_.epsilon);
        }
      }
    }
  }

  OptimizerOptions o_;
  std::vector<double> w, first, second;
  int t = 0;
};

void add(RowGradient& gradient, std::vector<uint32_t> ids, const std::vector<float>& values) {
  ASSERT_TRUE(gradient.add({.ids = ids, .values = values}).ok());
}

Optimizer make(const OptimizerOptions& options, uint64_t rows, uint32_t cols) {
  Result<Optimizer> optimizer = Optimizer::create(options, rows, cols);
  EXPECT_TRUE(optimizer.ok()) << optimizer.status().message();
  return std::move(optimizer.value());
}

TEST(Optimizer, EveryKindFollowsItsFormulaStepByStep) {
  for (const OptimizerKind kind : kAll) {
    OptimizerOptions options{
        .kind = kind, .learning_rate = 0.05, .weight_decay = 0.01, .initial_accumulator = 0.1};
    std::mt19937 random(11);
    std::normal_distribution<float> normal;
    const uint32_t cols = 7;
    std::vector<float> weights(3 * cols);
    for (float& weight : weights) weight = normal(random);
    Reference reference(options, std::vector<double>(weights.begin() + cols, weights.begin() + 2 * cols));
    Optimizer optimizer = make(options, 3, cols);
    RowGradient gradient(3, cols);
    for (int step = 0; step < 50; ++step) {
      std::vector<float> values(cols);
      for (float& value : values) value = normal(random);
      add(gradient, {1}, values);
      ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
      gradient.clear();
      reference.step(values);
      for (uint32_t i = 0; i < cols; ++i) {
        ASSERT_NEAR(weights[cols + i], reference.w[i], 2e-5) << "kind " << int(kind) << " step " << step;
      }
    }
  }
}

// Kingma and Ba: with a constant gradient the first bias-corrected step is lr · g / (|g| + ε), whatever g is.
TEST(Optimizer, FirstAdamStepHasTheSizeOfTheLearningRate) {
  Optimizer optimizer = make({.kind = OptimizerKind::kAdam, .learning_rate = 0.125}, 1, 3);
  std::vector<float> weights = {1, 1, 1};
  RowGradient gradient(1, 3);
  add(gradient, {0}, {1000, -0.5f, 0.001f});
  ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
  EXPECT_NEAR(weights[0], 0.875, 1e-6);
  EXPECT_NEAR(weights[1], 1.125, 1e-6);
  EXPECT_NEAR(weights[2], 0.875, 1e-5);
}

TEST(Optimizer, LazyLeavesUntouchedRowsBitIdenticalAndDenseShrinksThem) {
  constexpr uint64_t kRows = 50;
  constexpr uint32_t kCols = 8;
  for (const OptimizerKind kind : kAll) {
    for (const bool dense : {false, true}) {
      OptimizerOptions options{.kind = kind, .learning_rate = 0.01, .weight_decay = 0.1, .dense = dense};
      if (dense && kind == OptimizerKind::kMomentum)
        options.momentum = 0;  // so that the factor below is exact
      std::vector<float> weights(kRows * kCols, 0.5f);
      const std::vector<float> before = weights;
      Optimizer optimizer = make(options, kRows, kCols);
      RowGradient gradient(kRows, kCols);
      for (int step = 0; step < 1000; ++step) {
        add(gradient, {7, 9}, std::vector<float>(2 * kCols, step % 2 ? 0.1f : -0.1f));
        ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
        gradient.clear();
      }
      for (uint64_t row = 0; row < kRows; ++row) {
        if (row == 7 || row == 9) continue;
        for (uint32_t i = 0; i < kCols; ++i) {
          if (!dense) ASSERT_EQ(weights[row * kCols + i], before[row * kCols + i]);
          const bool decays_geometrically = kind == OptimizerKind::kSgd || kind == OptimizerKind::kMomentum ||
                                            kind == OptimizerKind::kAdamW;
          if (dense && decays_geometrically) {
            ASSERT_NEAR(weights[row * kCols + i], 0.5 * std::pow(1 - 0.01 * 0.1, 1000), 1e-4);
          }
        }
      }
    }
  }
}

TEST(Optimizer, MomentumOfAnUntouchedRowRestsInLazyMode) {
  std::vector<float> weights = {1, 1};
  Optimizer optimizer = make({.kind = OptimizerKind::kMomentum, .learning_rate = 0.1}, 2, 1);
  RowGradient gradient(2, 1);
  add(gradient, {0}, {1});
  ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
  const float after_first = weights[0];
  gradient.clear();
  add(gradient, {1}, {1});
  ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
  EXPECT_EQ(weights[0], after_first);
}

TEST(Optimizer, StateIsProportionalToTheTouchedRows) {
  Optimizer optimizer = make({.kind = OptimizerKind::kAdam}, 250'000, 64);
  std::vector<float> weights(250'000 * 64ull);
  RowGradient gradient(250'000, 64);
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < 1000; ++i) ids.push_back(i * 249);
  add(gradient, ids, std::vector<float>(ids.size() * 64, 0.5f));
  ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
  EXPECT_EQ(optimizer.state_rows(), 1000u);
  EXPECT_GE(optimizer.state_bytes(), 1000u * 64 * 8);
  EXPECT_LE(optimizer.state_bytes(), 1000u * (64 * 8 + 64) * 2);  // growth by halves leaves some slack
}

TEST(Optimizer, PerRowStepsCorrectTheBiasOfALateRow) {
  for (const bool per_row : {false, true}) {
    Optimizer optimizer =
        make({.kind = OptimizerKind::kAdam, .learning_rate = 0.1, .per_row_steps = per_row}, 2, 1);
    std::vector<float> weights = {0, 0};
    RowGradient gradient(2, 1);
    for (int step = 0; step < 9; ++step) {
      add(gradient, {0}, {1});
      ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
      gradient.clear();
    }
    add(gradient, {1}, {1});
    ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
    const double m = 0.1, v = 0.001;
    const double t = per_row ? 1 : 10;
    const double expected =
        -0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    EXPECT_NEAR(weights[1], expected, 1e-6);
  }
}

TEST(Optimizer, AnInfiniteSumLeavesTableAndStateAsTheyWere) {
  Optimizer optimizer = make({.kind = OptimizerKind::kAdam}, 4, 2);
  std::vector<float> weights = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<float> before = weights;
  RowGradient gradient(4, 2);
  add(gradient, {2}, {3e38f, 1});
  add(gradient, {2}, {3e38f, 1});  // the sum overflows
  const Status status = optimizer.step(gradient, weights.data());
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("row 2"), std::string::npos);
  EXPECT_EQ(weights, before);
  EXPECT_EQ(optimizer.steps(), 0u);
  EXPECT_EQ(optimizer.state_rows(), 0u);
}

TEST(Optimizer, MaxNormHoldsAfterTheStep) {
  Optimizer optimizer = make({.kind = OptimizerKind::kSgd, .learning_rate = 1, .max_norm = 2}, 2, 2);
  std::vector<float> weights = {0, 0, 30, 40};
  RowGradient gradient(2, 2);
  add(gradient, {0}, {-30, -40});
  ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
  EXPECT_NEAR(weights[0], 1.2, 1e-6);
  EXPECT_NEAR(weights[1], 1.6, 1e-6);
  EXPECT_EQ(weights[3], 40);
}

TEST(Optimizer, PaddingRowNeverMoves) {
  for (const bool dense : {false, true}) {
    Optimizer optimizer = make({.kind = OptimizerKind::kSgd, .weight_decay = 0.5, .dense = dense}, 2, 1);
    std::vector<float> weights = {3, 3};
    RowGradient gradient(2, 1, 1);
    add(gradient, {0, 1}, {1, 1});
    ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
    EXPECT_EQ(weights[1], 3);
    EXPECT_LT(weights[0], 3);
  }
}

TEST(Optimizer, StateSurvivesSavingAndGoesOnBitForBit) {
  for (const OptimizerKind kind : kAll) {
    for (const bool dense : {false, true}) {
      const OptimizerOptions options{.kind = kind, .learning_rate = 0.1, .dense = dense};
      std::vector<float> once(10 * 4, 1.0f), twice = once;
      RowGradient gradient(10, 4);
      const auto run = [&](Optimizer& optimizer, std::vector<float>& weights, uint32_t seed) {
        add(gradient, {seed % 10, 3}, std::vector<float>(8, 0.25f * seed));
        ASSERT_TRUE(optimizer.step(gradient, weights.data()).ok());
        gradient.clear();
      };
      Optimizer original = make(options, 10, 4);
      for (uint32_t seed = 1; seed < 4; ++seed) run(original, once, seed);
      twice = once;
      Array<uint8_t> bytes;
      ASSERT_TRUE(original.save(bytes).ok());
      Optimizer restored = make(options, 10, 4);
      ASSERT_TRUE(restored.restore(bytes.span()).ok());
      for (uint32_t seed = 4; seed < 8; ++seed) {
        run(original, once, seed);
        run(restored, twice, seed);
      }
      EXPECT_EQ(once, twice);
      EXPECT_EQ(restored.steps(), 7u);
    }
  }
}

TEST(Optimizer, RefusesAForeignOrBrokenState) {
  Optimizer adam = make({.kind = OptimizerKind::kAdam}, 10, 4);
  std::vector<float> weights(40, 1.0f);
  RowGradient gradient(10, 4);
  add(gradient, {3, 5}, std::vector<float>(8, 1.0f));
  ASSERT_TRUE(adam.step(gradient, weights.data()).ok());
  Array<uint8_t> bytes;
  ASSERT_TRUE(adam.save(bytes).ok());
  EXPECT_FALSE(make({.kind = OptimizerKind::kSgd}, 10, 4).restore(bytes.span()).ok());
  EXPECT_FALSE(make({.kind = OptimizerKind::kAdam}, 11, 4).restore(bytes.span()).ok());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(adam.restore(bytes.span().first(length)).ok()) << length;
  }
  store_le<uint32_t>(bytes.data() + 40, 5);  // the first id equals the second
  EXPECT_EQ(adam.restore(bytes.span()).code(), Code::kMalformed);
  EXPECT_EQ(adam.steps(), 1u);
  EXPECT_EQ(adam.state_rows(), 2u);
}

TEST(Optimizer, NamesWhatIsWrongWithAnOption) {
  EXPECT_NE(Optimizer::create({.beta1 = 1}, 1, 1).status().message().find("beta1"), std::string::npos);
  EXPECT_FALSE(Optimizer::create({.learning_rate = NAN}, 1, 1).ok());
  EXPECT_FALSE(Optimizer::create({.kind = OptimizerKind::kSgd, .per_row_steps = true}, 1, 1).ok());
  EXPECT_NE(optimizer_by_name("adamax").status().message().find("adamw"), std::string::npos);
  EXPECT_EQ(optimizer_by_name("rowwise-adagrad").value(), OptimizerKind::kRowwiseAdagrad);
}

}  // namespace
}  // namespace id2vec

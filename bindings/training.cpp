// Training as JavaScript drives it: a float table, the gradient of a step, and the optimizer that applies it. Arrays are
// addresses and counts; a loss is read after the call that made it.
#include "training.h"

#include <emscripten/bind.h>
#include <emscripten/val.h>

#include <cstring>
#include <string>
#include <utility>

#include "border.h"
#include "core/array.h"
#include "core/text.h"
#include "stage/pool.h"
#include "table/table.h"
#include "training/head.h"
#include "training/initialise.h"
#include "training/input.h"
#include "training/optimizer.h"

namespace id2vec {
namespace {

using emscripten::val;

struct PoolGradientCall {
  uintptr_t ids = 0;
  size_t count = 0;
  uintptr_t offsets = 0;
  size_t offsets_length = 0;
  size_t bag_length = 0;
  uintptr_t mask = 0;
  uintptr_t weights = 0;
  uintptr_t d_pooled = 0;
  size_t d_pooled_length = 0;
  int mode = 0;
};

class Trainer {
 public:
  Trainer(Table& table, double padding_id)
      : table_(table),
        gradient_(table.spec().rows, table.spec().cols, static_cast<int64_t>(padding_id)),
        optimizer_(std::move(Optimizer::create({}, table.spec().rows, table.spec().cols).value())) {}

  // Starts an optimizer without state; `options` has every field of OptimizerOptions in camel case.
  int use(const std::string& kind, const val& options) {
    const Result<OptimizerKind> known = optimizer_by_name(kind);
    if (!known.ok()) return report(known.status());
    const auto number = [&](const char* name) { return options[name].as<double>(); };
    const OptimizerOptions chosen{.kind = known.value(),
                                  .learning_rate = number("learningRate"),
                                  .momentum = number("momentum"),
                                  .beta1 = number("beta1"),
                                  .beta2 = number("beta2"),
                                  .epsilon = number("epsilon"),
                                  .weight_decay = number("weightDecay"),
                                  .initial_accumulator = number("initialAccumulator"),
                                  .clip_norm = number("clipNorm"),
                                  .clip_value = number("clipValue"),
                                  .max_norm = number("maxNorm"),
                                  .dense = options["dense"].as<bool>(),
                                  .per_row_steps = options["perRowSteps"].as<bool>()};
    Result<Optimizer> optimizer = Optimizer::create(chosen, table_.spec().rows, table_.spec().cols);
    if (optimizer.ok()) optimizer_ = std::move(optimizer.value());
    return report(optimizer.status());
  }

  int accumulate(uintptr_t ids, size_t count, uintptr_t d_rows, size_t d_rows_length, double scale,
                 bool by_frequency) {
    return report(accumulate_embed(span_at<const uint32_t>(ids, count),
                                   span_at<const float>(d_rows, d_rows_length), scale, by_frequency,
                                   gradient_));
  }

  int accumulate_pool(const PoolGradientCall& call, bool by_frequency) {
    const PoolOptions options{.mode = static_cast<PoolMode>(call.mode),
                              .offsets = span_at<const uint32_t>(call.offsets, call.offsets_length),
                              .bag_length = call.bag_length,
                              .attention_mask = span_at<const uint8_t>(call.mask, call.count),
                              .sample_weights = span_at<const float>(call.weights, call.count),
                              .padding_id = gradient_.padding_id()};
    return report(id2vec::accumulate_pool(table_, span_at<const uint32_t>(call.ids, call.count), options,
                                          span_at<const float>(call.d_pooled, call.d_pooled_length),
                                          by_frequency, gradient_));
  }

  // hidden [count, d], d_logits [count, V] → d_hidden [count, d] (0: not wanted).
  int accumulate_logits(uintptr_t hidden, size_t count, uintptr_t d_logits, double scale,
                        uintptr_t d_hidden) {
    const size_t width = count * table_.spec().cols;
    return report(id2vec::accumulate_logits(float_table(), span_at<const float>(hidden, width),
                                            span_at<const float>(d_logits, count * table_.spec().rows), scale,
                                            gradient_, span_at<float>(d_hidden, width)));
  }

  // targets: double [count], −1 for none.
  int cross_entropy(uintptr_t hidden, size_t count, uintptr_t targets, double scale, bool mean,
                    uintptr_t d_hidden) {
    Array<int64_t> ids;
    if (!ids.resize(count))
      return report(fail(Code::kOutOfMemory, "There is no memory left for the targets."));
    for (size_t n = 0; n < count; ++n) ids[n] = static_cast<int64_t>(at<const double>(targets)[n]);
    const size_t width = count * table_.spec().cols;
    const Result<double> loss = accumulate_cross_entropy(float_table(), span_at<const float>(hidden, width),
                                                         ids.span(), {.logit_scale = scale, .mean = mean},
                                                         gradient_, span_at<float>(d_hidden, width));
    if (loss.ok()) loss_ = loss.value();
    return report(loss.status());
  }
  double loss() const { return loss_; }

  int step() { return report(optimizer_.step(gradient_, weights())); }
  void zero_gradient() { gradient_.clear(); }

  size_t touched() const { return gradient_.touched(); }
  // ids: uint32 [touched], ascending; values: float [touched, d].
  int gradient(uintptr_t ids, uintptr_t values) const {
    Array<uint32_t> sorted;
    if (const int code = report(gradient_.sorted_ids(sorted)); code != 0) return code;
    const size_t cols = table_.spec().cols;
    for (size_t i = 0; i < sorted.size(); ++i) {
      at<uint32_t>(ids)[i] = sorted[i];
      std::memcpy(at<float>(values) + i * cols, gradient_.row(sorted[i]), cols * sizeof(float));
    }
    return 0;
  }

  double state_bytes() const { return static_cast<double>(optimizer_.state_bytes()); }
  double state_rows() const { return static_cast<double>(optimizer_.state_rows()); }
  double gradient_bytes() const { return static_cast<double>(gradient_.bytes()); }
  double steps() const { return static_cast<double>(optimizer_.steps()); }
  int set_learning_rate(double rate) { return report(optimizer_.set_learning_rate(rate)); }

  // The state as bytes at state_address() until dropState().
  int save_state() { return report(optimizer_.save(state_)); }
  uintptr_t state_address() const { return reinterpret_cast<uintptr_t>(state_.data()); }
  size_t state_length() const { return state_.size(); }
  void drop_state() { state_.release(); }
  int restore_state(uintptr_t address, size_t count) {
    return report(optimizer_.restore(span_at<const uint8_t>(address, count)));
  }

 private:
  float* weights() { return reinterpret_cast<float*>(table_.plane(0).data()); }
  FloatTable float_table() { return {weights(), table_.spec().rows, table_.spec().cols}; }

  Table& table_;
  RowGradient gradient_;
  Optimizer optimizer_;
  Array<uint8_t> state_;
  double loss_ = 0;
};

// Fills a float table; row `padding_id` (−1: none) becomes zero.
void fill_normal_table(Table& table, double standard_deviation, double seed, double padding_id) {
  const MutableBytes bytes = table.plane(0);
  const std::span<float> weights(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
  fill_normal(weights, standard_deviation, static_cast<uint64_t>(seed));
  if (padding_id < 0) return;
  const size_t cols = table.spec().cols;
  for (float& weight : weights.subspan(static_cast<size_t>(padding_id) * cols, cols)) weight = 0;
}

}  // namespace

void register_training() {
  emscripten::value_object<PoolGradientCall>("PoolGradientCall")
      .field("ids", &PoolGradientCall::ids)
      .field("count", &PoolGradientCall::count)
      .field("offsets", &PoolGradientCall::offsets)
      .field("offsetsLength", &PoolGradientCall::offsets_length)
      .field("bagLength", &PoolGradientCall::bag_length)
      .field("mask", &PoolGradientCall::mask)
      .field("weights", &PoolGradientCall::weights)
      .field("dPooled", &PoolGradientCall::d_pooled)
      .field("dPooledLength", &PoolGradientCall::d_pooled_length)
      .field("mode", &PoolGradientCall::mode);

  emscripten::class_<Trainer>("Trainer")
      .constructor<Table&, double>()
      .function("use", &Trainer::use)
      .function("accumulate", &Trainer::accumulate)
      .function("accumulatePool", &Trainer::accumulate_pool)
      .function("accumulateLogits", &Trainer::accumulate_logits)
      .function("crossEntropy", &Trainer::cross_entropy)
      .function("loss", &Trainer::loss)
      .function("step", &Trainer::step)
      .function("zeroGradient", &Trainer::zero_gradient)
      .function("touched", &Trainer::touched)
      .function("gradient", &Trainer::gradient)
      .function("stateBytes", &Trainer::state_bytes)
      .function("stateRows", &Trainer::state_rows)
      .function("gradientBytes", &Trainer::gradient_bytes)
      .function("steps", &Trainer::steps)
      .function("setLearningRate", &Trainer::set_learning_rate)
      .function("saveState", &Trainer::save_state)
      .function("stateAddress", &Trainer::state_address)
      .function("stateLength", &Trainer::state_length)
      .function("dropState", &Trainer::drop_state)
      .function("restoreState", &Trainer::restore_state);

  emscripten::function("fillNormal", &fill_normal_table);
}

}  // namespace id2vec

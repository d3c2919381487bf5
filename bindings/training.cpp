// Training as JavaScript drives it: a float table, the gradient of a step, and the optimizer that applies it. Arrays are
// addresses and counts; a loss is read after the call that made it.
#include "training.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "border.h"
#include "calls.h"
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

class Trainer {
 public:
  Trainer(Table& table, double padding_id)
      : table_(table),
        gradient_(table.spec().rows, table.spec().cols, static_cast<int64_t>(padding_id)),
        optimizer_(std::move(Optimizer::create({}, table.spec().rows, table.spec().cols).value())) {}

  // Starts an optimizer without state.
  Status use(const std::string& kind, const OptimizerCall& options) {
    ID2VEC_ASSIGN(const OptimizerKind known, optimizer_by_name(kind));
    const OptimizerOptions chosen{.kind = known,
                                  .learning_rate = options.learning_rate,
                                  .momentum = options.momentum,
                                  .beta1 = options.beta1,
                                  .beta2 = options.beta2,
                                  .epsilon = options.epsilon,
                                  .weight_decay = options.weight_decay,
                                  .initial_accumulator = options.initial_accumulator,
                                  .clip_norm = options.clip_norm,
                                  .clip_value = options.clip_value,
                                  .max_norm = options.max_norm,
                                  .dense = options.dense,
                                  .per_row_steps = options.per_row_steps};
    ID2VEC_ASSIGN(optimizer_, Optimizer::create(chosen, table_.spec().rows, table_.spec().cols));
    return {};
  }

  Status accumulate(uintptr_t ids, size_t count, uintptr_t d_rows, size_t d_rows_length, double scale,
                    bool by_frequency) {
    return accumulate_embed(span_at<const uint32_t>(ids, count), span_at<const float>(d_rows, d_rows_length),
                            scale, by_frequency, gradient_);
  }

  Status accumulate_pool(const PoolGradientCall& call, bool by_frequency) {
    const PoolOptions options{.mode = static_cast<PoolMode>(int{call.mode}),
                              .offsets = span_at<const uint32_t>(call.offsets, call.offsets_length),
                              .bag_length = call.bag_length,
                              .attention_mask = span_at<const uint8_t>(call.mask, call.count),
                              .sample_weights = span_at<const float>(call.weights, call.count),
                              .padding_id = gradient_.padding_id()};
    return id2vec::accumulate_pool(table_, span_at<const uint32_t>(call.ids, call.count), options,
                                   span_at<const float>(call.d_pooled, call.d_pooled_length), by_frequency,
                                   gradient_);
  }

  // hidden [count, d], d_logits [count, V] → d_hidden [count, d] (0: not wanted).
  Status accumulate_logits(uintptr_t hidden, size_t count, uintptr_t d_logits, double scale,
                           uintptr_t d_hidden) {
    const size_t width = count * table_.spec().cols;
    return id2vec::accumulate_logits(float_table(), span_at<const float>(hidden, width),
                                     span_at<const float>(d_logits, count * table_.spec().rows), scale,
                                     gradient_, span_at<float>(d_hidden, width));
  }

  // targets: double [count], −1 for none.
  Status cross_entropy(uintptr_t hidden, size_t count, uintptr_t targets, double scale, bool mean,
                       uintptr_t d_hidden) {
    Array<int64_t> ids;
    if (!ids.resize(count)) return fail(Code::kOutOfMemory, "There is no memory left for the targets.");
    for (size_t n = 0; n < count; ++n) ids[n] = static_cast<int64_t>(at<const double>(targets)[n]);
    const size_t width = count * table_.spec().cols;
    const Result<double> loss = accumulate_cross_entropy(float_table(), span_at<const float>(hidden, width),
                                                         ids.span(), {.logit_scale = scale, .mean = mean},
                                                         gradient_, span_at<float>(d_hidden, width));
    if (loss.ok()) loss_ = loss.value();
    return loss.status();
  }
  double loss() const { return loss_; }

  Status step() { return optimizer_.step(gradient_, weights()); }
  void zero_gradient() { gradient_.clear(); }

  size_t touched() const { return gradient_.touched(); }
  // ids: uint32 [touched], ascending; values: float [touched, d].
  Status gradient(uintptr_t ids, uintptr_t values) const {
    Array<uint32_t> sorted;
    ID2VEC_RETURN_IF_ERROR(gradient_.sorted_ids(sorted));
    const size_t cols = table_.spec().cols;
    for (size_t i = 0; i < sorted.size(); ++i) {
      at<uint32_t>(ids)[i] = sorted[i];
      std::memcpy(at<float>(values) + i * cols, gradient_.row(sorted[i]), cols * sizeof(float));
    }
    return {};
  }

  uint64_t state_bytes() const { return optimizer_.state_bytes(); }
  uint64_t state_rows() const { return optimizer_.state_rows(); }
  uint64_t steps() const { return optimizer_.steps(); }
  Status set_learning_rate(double rate) { return optimizer_.set_learning_rate(rate); }

  // The state as bytes at state_address() until dropState().
  Status save_state() { return optimizer_.save(state_); }
  const uint8_t* state_address() const { return state_.data(); }
  size_t state_length() const { return state_.size(); }
  void drop_state() { state_.release(); }
  Status restore_state(uintptr_t address, size_t count) {
    return optimizer_.restore(span_at<const uint8_t>(address, count));
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

std::unique_ptr<Trainer> make_trainer(Table& table, double padding_id) {
  return std::make_unique<Trainer>(table, padding_id);
}

// Fills a float table; row `padding_id` (−1: none) becomes zero.
void fill_normal_table(Table& table, double standard_deviation, double seed, double padding_id) {
  const MutableBytes bytes = table.plane(0);
  const std::span<float> weights(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
  fill_normal(weights, standard_deviation, static_cast<uint64_t>(seed));
  if (!(padding_id >= 0 && padding_id < static_cast<double>(table.spec().rows))) return;
  const size_t cols = table.spec().cols;
  for (float& weight : weights.subspan(static_cast<size_t>(padding_id) * cols, cols)) weight = 0;
}

}  // namespace

void register_training() {
  bind<&make_trainer>("makeTrainer");
  bind<&destroy<Trainer>>("deleteTrainer");
  bind<&Trainer::use>("useOptimizer");
  bind<&Trainer::accumulate>("accumulate");
  bind<&Trainer::accumulate_pool>("accumulatePool");
  bind<&Trainer::accumulate_logits>("accumulateLogits");
  bind<&Trainer::cross_entropy>("crossEntropy");
  bind<&Trainer::loss>("loss");
  bind<&Trainer::step>("step");
  bind<&Trainer::zero_gradient>("zeroGradient");
  bind<&Trainer::touched>("touched");
  bind<&Trainer::gradient>("gradient");
  bind<&Trainer::state_bytes>("stateBytes");
  bind<&Trainer::state_rows>("stateRows");
  bind<&Trainer::steps>("steps");
  bind<&Trainer::set_learning_rate>("setLearningRate");
  bind<&Trainer::save_state>("saveState");
  bind<&Trainer::state_address>("stateAddress");
  bind<&Trainer::state_length>("stateLength");
  bind<&Trainer::drop_state>("dropState");
  bind<&Trainer::restore_state>("restoreState");
  bind<&fill_normal_table>("fillNormal");
}

}  // namespace id2vec

// Factorization as JavaScript drives it: the Gram matrix is made here, its eigenvectors by a module of their own
// (bindings/eigen), the factors here again.
#include "tools/factorize.h"

#include <emscripten/bind.h>

#include <memory>
#include <string>
#include <vector>

#include "border.h"
#include "core/text.h"
#include "stage/values.h"

namespace id2vec {
namespace {

using emscripten::val;

class Factorization {
 public:
  explicit Factorization(const Table& table) : table_(table) {}

  // Address of the Gram matrix, double [d, d]; 0 on failure.
  uintptr_t gram() {
    const size_t width = table_.spec().cols;
    Result<Values<double>> room = Values<double>::of(width * width);
    if (report(room.status()) != 0) return 0;
    gram_ = std::move(room.value());
    if (report(gram_matrix(table_, gram_.all())) != 0) return 0;
    return reinterpret_cast<uintptr_t>(gram_.data());
  }
  void drop_gram() { gram_ = {}; }

  // basis: float [rank, d].
  int run(uintptr_t basis, size_t rank, const std::string& dtype) {
    const Dtype* format = dtype_by_name(dtype);
    if (format == nullptr) return report(fail(Code::kUnsupported, "There is no format ", quoted(dtype), "."));
    Result<Factors> factors =
        factorize(table_, span_at<const float>(basis, rank * table_.spec().cols), *format);
    if (factors.ok()) factors_ = std::move(factors.value());
    return report(factors.status());
  }

  val result() const {
    const FactorizeReport& report = factors_.report;
    val object = val::object();
    object.set("parameters", static_cast<double>(report.parameters));
    object.set("bytes", static_cast<double>(report.bytes));
    object.set("relativeError", report.relative_error);
    object.set("top1Agreement", report.top1_agreement);
    object.set("sampledVectors", report.sampled_vectors);
    return object;
  }

  std::unique_ptr<Table> take_rows() { return std::move(factors_.rows); }
  std::unique_ptr<Table> take_projection() { return std::move(factors_.projection); }

 private:
  const Table& table_;
  Values<double> gram_;
  Factors factors_;
};

// eigenvalues: double [count].
double optimal_error(uintptr_t eigenvalues, size_t count, size_t rank) {
  return optimal_relative_error(span_at<const double>(eigenvalues, count), rank);
}

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec_factorize) {
  emscripten::class_<Factorization>("Factorization")
      .constructor<const Table&>()
      .function("gram", &Factorization::gram)
      .function("dropGram", &Factorization::drop_gram)
      .function("run", &Factorization::run)
      .function("result", &Factorization::result)
      .function("takeRows", &Factorization::take_rows)
      .function("takeProjection", &Factorization::take_projection);
  emscripten::function("optimalError", &optimal_error);
}

}  // namespace id2vec

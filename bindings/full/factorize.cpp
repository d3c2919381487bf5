// Factorization as JavaScript drives it: the eigenvectors of the Gram matrix once, factors of a rank from them.
#include "tools/factorize.h"

#include <emscripten/bind.h>

#include <algorithm>
#include <memory>
#include <string>

#include "border.h"
#include "core/text.h"
#include "stage/values.h"
#include "tools/symmetric_eigen.h"

namespace id2vec {
namespace {

using emscripten::val;

class Factorization {
 public:
  explicit Factorization(const Table& table) : table_(table) {}

  // Finds the directions [d, d] that matter most, and how much each does.
  int decompose() {
    const size_t width = table_.spec().cols;
    Result<Values<double>> matrix = Values<double>::of(width * width);
    if (!matrix.ok()) return report(matrix.status());
    Result<Values<double>> values = Values<double>::of(width);
    if (!values.ok()) return report(values.status());
    directions_ = std::move(matrix.value());
    eigenvalues_ = std::move(values.value());
    if (const int code = report(gram_matrix(table_, directions_.all())); code != 0) return code;
    return report(symmetric_eigen(directions_.all(), eigenvalues_.all()));
  }

  // What no factors of this rank can beat.
  double optimal_error(size_t rank) { return optimal_relative_error(eigenvalues_.all(), rank); }

  // Factors of rank 1 to d; the directions are used up.
  int run(size_t rank, const std::string& dtype) {
    const Dtype* format = dtype_by_name(dtype);
    if (format == nullptr) return report(fail(Code::kUnsupported, "There is no format ", quoted(dtype), "."));
    Result<Values<float>> basis = Values<float>::of(rank * table_.spec().cols);
    if (!basis.ok()) return report(basis.status());
    std::copy_n(directions_.data(), basis.value().size(), basis.value().data());
    directions_ = {};
    Result<Factors> factors = factorize(table_, basis.value().all(), *format);
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
  Values<double> directions_, eigenvalues_;
  Factors factors_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec_factorize) {
  emscripten::class_<Factorization>("Factorization")
      .constructor<const Table&>()
      .function("decompose", &Factorization::decompose)
      .function("optimalError", &Factorization::optimal_error)
      .function("run", &Factorization::run)
      .function("result", &Factorization::result)
      .function("takeRows", &Factorization::take_rows)
      .function("takeProjection", &Factorization::take_projection);
}

}  // namespace id2vec

// Factorization as JavaScript drives it: the eigenvectors of the Gram matrix once, factors of a rank from them.
#include "tools/factorize.h"

#include <algorithm>
#include <memory>
#include <string>

#include "answer.h"
#include "border.h"
#include "core/text.h"
#include "stage/values.h"
#include "tools/symmetric_eigen.h"

namespace id2vec {
namespace {

class Factorization {
 public:
  explicit Factorization(const Table& table) : table_(table) {}

  // Finds the directions [d, d] that matter most, and how much each does.
  Status decompose() {
    const size_t width = table_.spec().cols;
    ID2VEC_ASSIGN(directions_, Values<double>::of(width * width));
    ID2VEC_ASSIGN(eigenvalues_, Values<double>::of(width));
    ID2VEC_RETURN_IF_ERROR(gram_matrix(table_, directions_.all()));
    return symmetric_eigen(directions_.all(), eigenvalues_.all());
  }

  // What no factors of this rank can beat.
  double optimal_error(size_t rank) { return optimal_relative_error(eigenvalues_.all(), rank); }

  // Factors of rank 1 to d; the directions are used up.
  Status run(size_t rank, const std::string& dtype) {
    const Dtype* format = dtype_by_name(dtype);
    if (format == nullptr) return fail(Code::kUnsupported, "There is no format ", quoted(dtype), ".");
    ID2VEC_ASSIGN(Values<float> basis, Values<float>::of(rank * table_.spec().cols));
    std::copy_n(directions_.data(), basis.size(), basis.data());
    directions_ = {};
    ID2VEC_ASSIGN(factors_, factorize(table_, basis.all(), *format));
    return {};
  }

  Answer result() const {
    const FactorizeReport& report = factors_.report;
    return Answer::object("parameters", report.parameters, "bytes", report.bytes, "relativeError",
                          report.relative_error, "top1Agreement", report.top1_agreement, "sampledVectors",
                          report.sampled_vectors);
  }

  std::unique_ptr<Table> take_rows() { return std::move(factors_.rows); }
  std::unique_ptr<Table> take_projection() { return std::move(factors_.projection); }

 private:
  const Table& table_;
  Values<double> directions_, eigenvalues_;
  Factors factors_;
};

std::unique_ptr<Factorization> make_factorization(const Table& table) {
  return std::make_unique<Factorization>(table);
}

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec_factorize) {
  bind<&make_factorization>("makeFactorization");
  bind<&destroy<Factorization>>("deleteFactorization");
  bind<&Factorization::decompose>("decompose");
  bind<&Factorization::optimal_error>("optimalError");
  bind<&Factorization::run>("runFactorization");
  bind<&Factorization::result>("factorizationResult");
  bind<&Factorization::take_rows>("takeRows");
  bind<&Factorization::take_projection>("takeProjection");
}

}  // namespace id2vec

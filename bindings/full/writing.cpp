#include "writing.h"

#include <emscripten/bind.h>

#include <cmath>
#include <memory>

#include "border.h"
#include "core/text.h"
#include "opener.h"
#include "to_js.h"
#include "tools/gguf_writer.h"
#include "tools/quantize.h"

namespace id2vec {

using emscripten::val;

void Writer::set_number(std::string key, double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) {
    source_.metadata[std::move(key)] = static_cast<int64_t>(value);
  } else {
    source_.metadata[std::move(key)] = value;
  }
}

void Writer::set_vocabulary(uintptr_t text, size_t bytes, uintptr_t offsets, size_t count, uintptr_t scores,
                            uintptr_t types) {
  Vocabulary& vocabulary = source_.vocabulary = {};
  vocabulary.text.assign(at<const char>(text), bytes);
  vocabulary.offsets.assign(at<const uint32_t>(offsets), at<const uint32_t>(offsets) + count + 1);
  if (scores != 0) vocabulary.scores.assign(at<const float>(scores), at<const float>(scores) + count);
  if (types != 0) vocabulary.types.assign(at<const int32_t>(types), at<const int32_t>(types) + count);
}

void Writer::add_integers(std::string name, const std::string& dtype, double count, uintptr_t address,
                          size_t bytes) {
  integers_.push_back({std::move(name),
                       dtype_by_name(dtype),
                       static_cast<uint64_t>(count),
                       {at<const uint8_t>(address), bytes}});
}

int Writer::finish(bool gguf) {
  Result<Export> made =
      export_tables(gguf ? Container::kGguf : Container::kSafetensors, source_, tables_, integers_);
  if (made.ok()) file_ = std::move(made.value());
  return report(made.status());
}

int Writer::finish_header(std::string name, double rows, double cols) {
  file_ = {};
  file_.directory.metadata = source_.metadata;
  file_.directory.vocabulary = source_.vocabulary;
  Tensor& tensor = file_.directory.tensors.emplace_back();
  tensor.name = std::move(name);
  tensor.dtype = dtype_by_name("F32");
  tensor.shape = {static_cast<uint64_t>(rows), static_cast<uint64_t>(cols)};
  Result<FileLayout> layout = gguf_layout(file_.directory);
  if (layout.ok()) file_.layout.header = std::move(layout.value().header);
  return report(layout.status());
}

val Writer::pieces() const {
  val list = val::array();
  unsigned count = 0;
  uint64_t end = 0;
  const auto put = [&](uint64_t offset, Bytes bytes) {
    val piece = val::object();
    piece.set("zeros", number(offset - end));
    piece.set("address", reinterpret_cast<uintptr_t>(bytes.data()));
    piece.set("bytes", number(bytes.size()));
    list.set(count++, piece);
    end = offset + bytes.size();
  };
  put(0, file_.layout.header);
  for (const uint32_t i : file_.layout.order) put(file_.layout.offsets[i], file_.pieces[i]);
  put(file_.layout.bytes, {});
  return list;
}

namespace {

// A file to be written with the metadata and the vocabulary of the one that was read.
std::unique_ptr<Writer> writer_after(const Opener& opener) { return std::make_unique<Writer>(opener.read()); }

// The same rows in another format; null on failure.
std::unique_ptr<Table> quantize(const Table& table, const std::string& dtype) {
  const Dtype* to = dtype_by_name(dtype);
  if (to == nullptr || to->format < 0) {
    report(fail(Code::kUnsupported, "There is no table format ", quoted(dtype), "."));
    return nullptr;
  }
  Result<std::unique_ptr<Table>> quantized = quantize_table(table, *to);
  if (report(quantized.status()) != 0) return nullptr;
  return std::move(quantized.value());
}

// The same table with another number of rows, or vector with another number of values; null on failure.
std::unique_ptr<Table> resize(const Table& table, bool is_vector, double size, bool mean) {
  const NewRows fill = mean ? NewRows::kMean : NewRows::kZeros;
  Result<std::unique_ptr<Table>> resized = is_vector ? resize_vector(table, static_cast<uint32_t>(size), fill)
                                                     : resize_table(table, static_cast<uint64_t>(size), fill);
  if (report(resized.status()) != 0) return nullptr;
  return std::move(resized.value());
}

// The format that `dtype` becomes for rows of this width; empty where there is no encoder for it.
std::string encodable(const std::string& dtype, uint32_t cols) {
  const Dtype* wanted = dtype_by_name(dtype);
  const Dtype* possible = wanted == nullptr ? nullptr : encodable_dtype(*wanted, cols);
  return std::string(possible == nullptr ? "" : possible->name);
}

// What the second table lost; null on failure.
val compare(const Table& source, const Table& quantized) {
  const Result<QuantizeReport> compared = compare_tables(source, quantized);
  if (report(compared.status()) != 0) return val::null();
  const QuantizeReport& result = compared.value();
  val object = val::object();
  object.set("sourceBytes", number(result.source_bytes));
  object.set("bytes", number(result.bytes));
  object.set("relativeError", result.relative_error);
  object.set("worstRow", number(result.worst_row));
  object.set("worstRowError", result.worst_row_error);
  object.set("meanCosine", result.mean_cosine);
  object.set("top1Agreement", result.top1_agreement);
  object.set("sampledRows", result.sampled_rows);
  return object;
}

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec_writing) {
  using emscripten::class_;
  using emscripten::function;

  function("writerAfter", &writer_after);
  function("quantize", &quantize);
  function("resize", &resize);
  function("encodable", &encodable);
  function("compare", &compare);

  class_<Writer>("Writer")
      .constructor<>()
      .function("setOrigin", &Writer::set_origin)
      .function("setText", &Writer::set_text)
      .function("setNumber", &Writer::set_number)
      .function("setVocabulary", &Writer::set_vocabulary)
      .function("resizeVocabulary", &Writer::resize_vocabulary)
      .function("vocabularySize", &Writer::vocabulary_size)
      .function("add", &Writer::add)
      .function("addIntegers", &Writer::add_integers)
      .function("finish", &Writer::finish)
      .function("finishHeader", &Writer::finish_header)
      .function("pieces", &Writer::pieces);
}

}  // namespace id2vec

#include "writing.h"

#include <cmath>
#include <memory>

#include "border.h"
#include "core/text.h"
#include "opener.h"
#include "tools/gguf_writer.h"
#include "tools/quantize.h"

namespace id2vec {

void Writer::set_number(const std::string& key, double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) {
    source_.metadata[key] = static_cast<int64_t>(value);
  } else {
    source_.metadata[key] = value;
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

void Writer::add_integers(const std::string& name, const std::string& dtype, uint64_t count,
                          uintptr_t address, size_t bytes) {
  integers_.push_back({name, dtype_by_name(dtype), count, {at<const uint8_t>(address), bytes}});
}

Status Writer::finish(bool gguf) {
  const Container container = gguf ? Container::kGguf : Container::kSafetensors;
  ID2VEC_ASSIGN(file_, export_tables(container, source_, tables_, integers_));
  return {};
}

Status Writer::finish_header(const std::string& name, uint64_t rows, uint64_t cols) {
  file_ = {};
  file_.directory.metadata = source_.metadata;
  file_.directory.vocabulary = source_.vocabulary;
  Tensor& tensor = file_.directory.tensors.emplace_back();
  tensor.name = name;
  tensor.dtype = dtype_by_name("F32");
  tensor.shape = {rows, cols};
  ID2VEC_ASSIGN(FileLayout layout, gguf_layout(file_.directory));
  file_.layout.header = std::move(layout.header);
  return {};
}

Answer Writer::pieces() const {
  Answer list;
  uint64_t end = 0;
  const auto put = [&](uint64_t offset, Bytes bytes) {
    list.put_object("zeros", offset - end, "address", address_of(bytes.data()), "bytes", bytes.size());
    end = offset + bytes.size();
  };
  list.put_array([&] {
    put(0, file_.layout.header);
    for (const uint32_t i : file_.layout.order) put(file_.layout.offsets[i], file_.pieces[i]);
    put(file_.layout.bytes, {});
  });
  return list;
}

namespace {

// A file to be written with the metadata and the vocabulary of the one that was read.
std::unique_ptr<Writer> writer_after(const Opener& opener) { return std::make_unique<Writer>(opener.read()); }

// The same rows in another format.
Result<std::unique_ptr<Table>> quantize(const Table& table, const std::string& dtype) {
  const Dtype* to = dtype_by_name(dtype);
  if (to == nullptr || to->format < 0) {
    return fail(Code::kUnsupported, "There is no table format ", quoted(dtype), ".");
  }
  return quantize_table(table, *to);
}

// The same table with another number of rows, or vector with another number of values.
Result<std::unique_ptr<Table>> resize(const Table& table, bool is_vector, uint32_t size, bool mean) {
  const NewRows fill = mean ? NewRows::kMean : NewRows::kZeros;
  return is_vector ? resize_vector(table, size, fill) : resize_table(table, size, fill);
}

// The format that `dtype` becomes for rows of this width; empty where there is no encoder for it.
std::string_view encodable(const std::string& dtype, uint32_t cols) {
  const Dtype* wanted = dtype_by_name(dtype);
  const Dtype* possible = wanted == nullptr ? nullptr : encodable_dtype(*wanted, cols);
  return possible == nullptr ? "" : possible->name;
}

// What the second table lost.
Result<Answer> compare(const Table& source, const Table& quantized) {
  ID2VEC_ASSIGN(const QuantizeReport result, compare_tables(source, quantized));
  return Answer::object("sourceBytes", result.source_bytes, "bytes", result.bytes, "relativeError",
                        result.relative_error, "worstRow", result.worst_row, "worstRowError",
                        result.worst_row_error, "meanCosine", result.mean_cosine, "top1Agreement",
                        result.top1_agreement, "sampledRows", result.sampled_rows);
}

std::unique_ptr<Writer> make_writer() { return std::make_unique<Writer>(); }

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec_writing) {
  bind<&quantize>("quantize");
  bind<&resize>("resize");
  bind<&encodable>("encodable");
  bind<&compare>("compare");

  bind<&make_writer>("makeWriter");
  bind<&writer_after>("makeWriterAfter");
  bind<&destroy<Writer>>("deleteWriter");
  bind<&Writer::set_origin>("setOrigin");
  bind<&Writer::set_text>("setText");
  bind<&Writer::set_number>("setNumber");
  bind<&Writer::set_vocabulary>("setVocabulary");
  bind<&Writer::resize_vocabulary>("resizeVocabulary");
  bind<&Writer::vocabulary_size>("vocabularySize");
  bind<&Writer::add>("addTable");
  bind<&Writer::add_integers>("addIntegers");
  bind<&Writer::finish>("finishFile");
  bind<&Writer::finish_header>("finishHeader");
  bind<&Writer::pieces>("pieces");
}

}  // namespace id2vec

#include "tools/gguf_writer.h"

#include <bit>
#include <cmath>

#include "core/text.h"

namespace id2vec {
namespace {

enum ValueType : uint32_t {
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12
};

constexpr uint64_t kDefaultAlignment = 32;
constexpr size_t kMaxDims = 4, kMaxNameBytes = 63;

void append_string(std::vector<uint8_t>& out, std::string_view text) {
  append_le<uint64_t>(out, text.size());
  append(out, text);
}

bool fits_f32(double value) { return double(float(value)) == value || value != value; }

bool fits_i32(double value) { return value >= INT32_MIN && value <= INT32_MAX && value == std::floor(value); }

template <class T>
void append_all(std::vector<uint8_t>& out, const std::vector<double>& values) {
  for (double value : values) append_le(out, static_cast<T>(value));
}

// Writes the type and the value of a metadata entry.
class ValueWriter {
 public:
  explicit ValueWriter(std::vector<uint8_t>& out) : out_(out) {}

  void operator()(bool value) const { scalar<uint8_t>(kBool, value); }
  void operator()(uint64_t value) const {
    if (value <= UINT32_MAX) return scalar<uint32_t>(kU32, uint32_t(value));
    scalar(kU64, value);
  }
  void operator()(int64_t value) const {
    if (value >= INT32_MIN && value <= INT32_MAX) return scalar<int32_t>(kI32, int32_t(value));
    scalar(kI64, value);
  }
  void operator()(double value) const {
    if (fits_f32(value)) return scalar(kF32, float(value));
    scalar(kF64, value);
  }
  void operator()(const std::string& text) const {
    append_le<uint32_t>(out_, kString);
    append_string(out_, text);
  }
  void operator()(const std::vector<std::string>& texts) const {
    array(kString, texts.size());
    for (const std::string& text : texts) append_string(out_, text);
  }
  void operator()(const std::vector<double>& values) const {
    bool integers = true, floats = true;
    for (double value : values) {
      integers = integers && fits_i32(value);
      floats = floats && fits_f32(value);
    }
    array(integers ? kI32 : floats ? kF32 : kF64, values.size());
    if (integers) return append_all<int32_t>(out_, values);
    if (floats) return append_all<float>(out_, values);
    append_all<double>(out_, values);
  }
  void operator()(const LongArray& value) const {
    array(value.type, value.length);
    out_.insert(out_.end(), value.bytes.begin(), value.bytes.end());
  }

  void array(uint32_t element, uint64_t length) const {
    append_le<uint32_t>(out_, kArray);
    append_le<uint32_t>(out_, element);
    append_le<uint64_t>(out_, length);
  }

 private:
  template <class T>
  void scalar(ValueType type, T value) const {
    append_le<uint32_t>(out_, type);
    append_le<T>(out_, value);
  }

  std::vector<uint8_t>& out_;
};

bool is_written(std::string_view key, const MetadataValue& value) {
  const auto* array = std::get_if<LongArray>(&value);
  return (array == nullptr || !array->bytes.empty()) && !key.starts_with("split.");
}

void append_tokens(std::vector<uint8_t>& out, const Vocabulary& vocabulary) {
  append_string(out, "tokenizer.ggml.tokens");
  ValueWriter(out).array(kString, vocabulary.size());
  for (size_t i = 0; i < vocabulary.size(); ++i) append_string(out, vocabulary.piece(i));
}

template <class T>
void append_numbers(std::vector<uint8_t>& out, std::string_view key, ValueType type,
                    const std::vector<T>& numbers) {
  append_string(out, key);
  ValueWriter(out).array(type, numbers.size());
  for (T number : numbers) append_le(out, number);
}

uint64_t append_metadata(std::vector<uint8_t>& out, const Directory& directory) {
  uint64_t count = 0;
  for (const auto& [key, value] : directory.metadata) {
    if (!is_written(key, value)) continue;
    append_string(out, key);
    std::visit(ValueWriter(out), value);
    ++count;
  }
  const Vocabulary& vocabulary = directory.vocabulary;
  if (vocabulary.size() == 0) return count;
  append_tokens(out, vocabulary);
  ++count;
  if (!vocabulary.scores.empty()) {
    append_numbers(out, "tokenizer.ggml.scores", kF32, vocabulary.scores);
    ++count;
  }
  if (!vocabulary.types.empty()) {
    append_numbers(out, "tokenizer.ggml.token_type", kI32, vocabulary.types);
    ++count;
  }
  return count;
}

Status check_tensor(const Tensor& tensor) {
  if (tensor.dtype->ggml_type < 0) {
    return fail(Code::kUnsupported, "The dtype ", tensor.dtype->name, " of ", quoted(tensor.name),
                " has no number in GGUF; write safetensors or choose another type.");
  }
  if (tensor.shape.empty() || tensor.shape.size() > kMaxDims) {
    return fail(Code::kUnsupported, quoted(tensor.name), " has ", tensor.shape.size(),
                " dimensions; GGUF allows 1 to ", kMaxDims, ".");
  }
  if (tensor.name.size() > kMaxNameBytes) {
    return fail(Code::kUnsupported, "The name ", quoted(tensor.name), " has ", tensor.name.size(),
                " bytes; ggml reads at most ", kMaxNameBytes, ".");
  }
  return {};
}

void append_info(std::vector<uint8_t>& out, const Tensor& tensor, uint64_t offset) {
  append_string(out, tensor.name);
  append_le<uint32_t>(out, uint32_t(tensor.shape.size()));
  for (size_t i = tensor.shape.size(); i-- > 0;) append_le<uint64_t>(out, tensor.shape[i]);  // fastest first
  append_le<uint32_t>(out, uint32_t(tensor.dtype->ggml_type));
  append_le<uint64_t>(out, offset);
}

Result<uint64_t> alignment_of(const Directory& directory) {
  const double alignment = directory.number("general.alignment", double(kDefaultAlignment));
  if (alignment >= 8 && alignment <= double(1u << 30) && std::has_single_bit(uint64_t(alignment)) &&
      alignment == std::floor(alignment)) {
    return uint64_t(alignment);
  }
  return fail(Code::kInvalidArgument, "general.alignment must be a power of two from 8 to 2^30.");
}

}  // namespace

Result<FileLayout> gguf_layout(const Directory& directory) {
  ID2VEC_ASSIGN(const uint64_t alignment, alignment_of(directory));
  FileLayout layout;
  std::vector<uint8_t> metadata, infos;
  const uint64_t metadata_count = append_metadata(metadata, directory);
  uint64_t end = 0;  // in the data section
  for (uint32_t i = 0; i < directory.tensors.size(); ++i) {
    const Tensor& tensor = directory.tensors[i];
    ID2VEC_RETURN_IF_ERROR(check_tensor(tensor));
    ID2VEC_ASSIGN(const uint64_t bytes, tensor_bytes("GGUF", tensor));
    append_info(infos, tensor, end);
    layout.offsets.push_back(end);
    layout.order.push_back(i);
    end = aligned(end + bytes, alignment);
  }
  append(layout.header, "GGUF");
  append_le<uint32_t>(layout.header, 3);
  append_le<uint64_t>(layout.header, directory.tensors.size());
  append_le<uint64_t>(layout.header, metadata_count);
  layout.header.insert(layout.header.end(), metadata.begin(), metadata.end());
  layout.header.insert(layout.header.end(), infos.begin(), infos.end());
  layout.header.resize(static_cast<size_t>(aligned(layout.header.size(), alignment)));
  for (uint64_t& offset : layout.offsets) offset += layout.header.size();
  layout.bytes = layout.header.size() + end;
  return layout;
}

}  // namespace id2vec

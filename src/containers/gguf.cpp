#include "containers/gguf.h"

#include <algorithm>
#include <bit>

#include "containers/gguf_cursor.h"
#include "containers/limits.h"
#include "core/text.h"

namespace id2vec {
namespace {

enum ValueType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};
constexpr uint8_t kValueBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};  // 0: of variable length

// What an entry of the header takes at least, so that a count can be compared with the bytes that are left.
constexpr uint64_t kLeastStringBytes = 8;
constexpr uint64_t kLeastMetadataBytes = kLeastStringBytes + 4 + 1;
constexpr uint64_t kLeastTensorBytes = kLeastStringBytes + 4 + 4 + 8;

constexpr uint32_t kMostDimensions = 4;
constexpr uint64_t kDefaultAlignment = 32;

// Numbers that a tensor type had once, or has only inside of ggml.
struct RemovedType {
  uint32_t number;
  const char* name;
};
constexpr RemovedType kRemovedTypes[] = {
    {4, "Q4_2"},      {5, "Q4_3"},        {15, "Q8_K"},       {31, "Q4_0_4_4"},   {32, "Q4_0_4_8"},
    {33, "Q4_0_8_8"}, {36, "IQ4_NL_4_4"}, {37, "IQ4_NL_4_8"}, {38, "IQ4_NL_8_8"},
};

struct Array {
  uint32_t type = 0;
  uint64_t length = 0;
};

class Header {
 public:
  Header(FileSet& files, std::string_view file, uint64_t file_size)
      : cursor_(files, file, file_size), file_(file), file_size_(file_size) {
    directory_.container = "GGUF";
    directory_.files.emplace_back(file);
  }

  Status read() {
    uint64_t n_tensors = 0, n_metadata = 0;
    ID2VEC_RETURN_IF_ERROR(read_counts(n_tensors, n_metadata));
    for (uint64_t i = 0; i < n_metadata; ++i) ID2VEC_RETURN_IF_ERROR(read_metadata());
    ID2VEC_RETURN_IF_ERROR(check_vocabulary());
    ID2VEC_ASSIGN(alignment_, alignment());
    for (uint64_t i = 0; i < n_tensors; ++i) ID2VEC_RETURN_IF_ERROR(read_tensor());
    return place_tensors();
  }

  Directory& directory() { return directory_; }

 private:
  Status read_counts(uint64_t& n_tensors, uint64_t& n_metadata) {
    cursor_.get<uint32_t>("the magic");
    const auto version = cursor_.get<uint32_t>("the version");
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    if (version != 0 && (version & 0xffff) == 0) {
      return fail(Code::kUnsupported, file_,
                  ": this GGUF file is big-endian; convert it to little-endian first");
    }
    if (version != 2 && version != 3) {
      return fail(Code::kUnsupported, file_, ": GGUF version ", version,
                  " is not read, only versions 2 and 3; convert the model anew");
    }
    n_tensors = cursor_.get<uint64_t>("the tensor count");
    n_metadata = cursor_.get<uint64_t>("the metadata count");
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    ID2VEC_RETURN_IF_ERROR(cursor_.check_count("metadata entries", n_metadata, kLeastMetadataBytes));
    ID2VEC_RETURN_IF_ERROR(cursor_.check_count("tensors", n_tensors, kLeastTensorBytes));
    ID2VEC_RETURN_IF_ERROR(check_limit("metadata entries", n_metadata, limits::kMetadataEntries));
    return check_limit("tensors", n_tensors, limits::kTensors);
  }

  Status check_limit(const char* what, uint64_t count, uint64_t limit) const {
    if (count <= limit) return {};
    return fail(Code::kLimit, file_, ": ", count, " ", what, " are more than the limit of ", limit);
  }

  std::string_view name(const char* what) {
    const std::string_view text = cursor_.string(what);
    if (text.size() > limits::kNameBytes) {
      cursor_.refuse(fail(Code::kLimit, file_, ": ", what, " of ", text.size(),
                          " bytes is longer than the limit of ", limits::kNameBytes));
    }
    return text;
  }

  // Metadata
  // --------------------------------------------------------------------------------------------------

  Status read_metadata() {
    const std::string_view key = name("a metadata key");
    const auto type = cursor_.get<uint32_t>("a metadata type");
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    if (type > kF64) {
      return fail(Code::kMalformed, file_, ": metadata ", quoted(key), " has the unknown value type ", type);
    }
    ID2VEC_ASSIGN(MetadataValue value, type == kArray ? read_array(key) : read_scalar(key, type));
    if (!directory_.metadata.emplace(key, std::move(value)).second) {
      return fail(Code::kMalformed, file_, ": metadata ", quoted(key), " appears twice");
    }
    return {};
  }

  Result<MetadataValue> read_scalar(std::string_view key, uint32_t type) {
    MetadataValue value;
    if (type == kString) {
      value = std::string(cursor_.string("a metadata string"));
    } else if (type == kBool) {
      const auto byte = cursor_.get<uint8_t>("a metadata value");
      if (byte > 1) {
        return fail(Code::kMalformed, file_, ": metadata ", quoted(key), " is a bool of value ", byte,
                    ", not 0 or 1");
      }
      value = byte == 1;
    } else if (type == kF32 || type == kF64) {
      value = number(type);
    } else if (type == kI8 || type == kI16 || type == kI32 || type == kI64) {
      value = signed_integer(type);
    } else {
      value = unsigned_integer(type);
    }
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    return value;
  }

  uint64_t unsigned_integer(uint32_t type) {
    constexpr const char* kWhat = "a metadata value";
    if (type == kU64) return cursor_.get<uint64_t>(kWhat);
    if (type == kU32) return cursor_.get<uint32_t>(kWhat);
    return type == kU16 ? cursor_.get<uint16_t>(kWhat) : cursor_.get<uint8_t>(kWhat);
  }

  int64_t signed_integer(uint32_t type) {
    constexpr const char* kWhat = "a metadata value";
    if (type == kI64) return cursor_.get<int64_t>(kWhat);
    if (type == kI32) return cursor_.get<int32_t>(kWhat);
    return type == kI16 ? cursor_.get<int16_t>(kWhat) : cursor_.get<int8_t>(kWhat);
  }

  double number(uint32_t type) {
    if (type == kF32) return cursor_.get<float>("a metadata value");
    if (type == kF64) return cursor_.get<double>("a metadata value");
    if (type == kI8 || type == kI16 || type == kI32 || type == kI64)
      return static_cast<double>(signed_integer(type));
    return static_cast<double>(unsigned_integer(type == kBool ? kU8 : type));
  }

  Result<MetadataValue> read_array(std::string_view key) {
    const auto type = cursor_.get<uint32_t>("an array's element type");
    const auto length = cursor_.get<uint64_t>("an array's length");
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    if (type == kArray) {
      return fail(Code::kUnsupported, file_, ": metadata ", quoted(key),
                  " is an array of arrays, which is not read");
    }
    if (type > kF64) {
      return fail(Code::kMalformed, file_, ": metadata ", quoted(key),
                  " is an array of the unknown value type ", type);
    }
    const uint64_t element_bytes = type == kString ? kLeastStringBytes : kValueBytes[type];
    ID2VEC_RETURN_IF_ERROR(cursor_.check_count("array elements", length, element_bytes));
    const Array array{type, length};
    if (key == "tokenizer.ggml.tokens") return read_tokens(array);
    if (key == "tokenizer.ggml.scores") return read_scores(array);
    if (key == "tokenizer.ggml.token_type") return read_token_types(array);
    return length <= limits::kKeptArray ? keep(array) : keep_raw(array);
  }

  Result<MetadataValue> keep(Array array) {
    MetadataValue value;
    if (array.type == kString) {
      auto& strings = value.emplace<std::vector<std::string>>();
      for (uint64_t i = 0; i < array.length; ++i) strings.emplace_back(cursor_.string("an array's string"));
    } else {
      auto& numbers = value.emplace<std::vector<double>>();
      for (uint64_t i = 0; i < array.length; ++i) numbers.push_back(number(array.type));
    }
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    return value;
  }

  Result<MetadataValue> keep_raw(Array array) {
    Cursor again = cursor_;
    if (array.type == kString) {
      for (uint64_t i = 0; i < array.length && cursor_.ok(); ++i) cursor_.string("an array's string");
    } else {
      cursor_.take(array.length * kValueBytes[array.type], "an array");
    }
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    const Bytes bytes = again.take(cursor_.position() - again.position(), "an array");
    return MetadataValue(LongArray{array.length, array.type, {bytes.begin(), bytes.end()}});
  }

  // Vocabulary
  // ------------------------------------------------------------------------------------------------

  Status wrong_element(const char* key, uint32_t type, const char* expected) const {
    return fail(Code::kMalformed, file_, ": metadata '", key, "' has elements of value type ", type, ", ",
                expected, " were expected");
  }

  // Twice over the same bytes: the first pass checks the lengths and adds them up, so that the second one
  // copies into memory of exactly that size.
  Result<MetadataValue> read_tokens(Array array) {
    if (array.type != kString) return wrong_element("tokenizer.ggml.tokens", array.type, "strings (8)");
    Cursor again = cursor_;
    uint64_t text_bytes = 0;
    for (uint64_t i = 0; i < array.length && cursor_.ok(); ++i)
      text_bytes += cursor_.string("a token").size();
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    Vocabulary& vocabulary = directory_.vocabulary;
    vocabulary.text.reserve(text_bytes);
    vocabulary.offsets.reserve(array.length + 1);
    vocabulary.offsets.assign(1, 0);
    for (uint64_t i = 0; i < array.length; ++i) {
      vocabulary.text += again.string("a token");
      vocabulary.offsets.push_back(static_cast<uint32_t>(vocabulary.text.size()));
    }
    return MetadataValue(LongArray{.length = array.length});
  }

  template <class T>
  Status copy_elements(uint64_t length, std::vector<T>& to) {
    const Bytes bytes = cursor_.take(length * sizeof(T), "an array");
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    to.resize(length);
    if (length > 0) std::memcpy(to.data(), bytes.data(), bytes.size());
    return {};
  }

  Result<MetadataValue> read_scores(Array array) {
    if (array.type != kF32) return wrong_element("tokenizer.ggml.scores", array.type, "f32 (6)");
    ID2VEC_RETURN_IF_ERROR(copy_elements(array.length, directory_.vocabulary.scores));
    return MetadataValue(LongArray{.length = array.length});
  }

  Result<MetadataValue> read_token_types(Array array) {
    if (array.type != kI32 && array.type != kU32) {
      return wrong_element("tokenizer.ggml.token_type", array.type, "i32 (5)");
    }
    ID2VEC_RETURN_IF_ERROR(copy_elements(array.length, directory_.vocabulary.types));
    return MetadataValue(LongArray{.length = array.length});
  }

  Status check_vocabulary() const {
    const Vocabulary& vocabulary = directory_.vocabulary;
    const auto check = [&](const char* key, size_t length) -> Status {
      if (length == 0 || length == vocabulary.size()) return {};
      return fail(Code::kMalformed, file_, ": metadata '", key, "' has ", length, " elements for ",
                  vocabulary.size(), " tokens");
    };
    ID2VEC_RETURN_IF_ERROR(check("tokenizer.ggml.scores", vocabulary.scores.size()));
    return check("tokenizer.ggml.token_type", vocabulary.types.size());
  }

  // Tensors
  // ---------------------------------------------------------------------------------------------------

  Result<uint64_t> alignment() const {
    const auto found = directory_.metadata.find("general.alignment");
    if (found == directory_.metadata.end()) return kDefaultAlignment;
    const auto* value = std::get_if<uint64_t>(&found->second);
    if (value == nullptr)
      return fail(Code::kMalformed, file_, ": 'general.alignment' is no unsigned integer");
    if (*value < 8 || !std::has_single_bit(*value)) {
      return fail(Code::kMalformed, file_, ": 'general.alignment' is ", *value,
                  ", no power of two from 8 on");
    }
    if (*value > limits::kGgufAlignment) {
      return fail(Code::kLimit, file_, ": 'general.alignment' of ", *value, " is more than the limit of ",
                  limits::kGgufAlignment);
    }
    return *value;
  }

  Status read_tensor() {
    Tensor tensor;
    tensor.name = name("a tensor's name");
    const auto n_dims = cursor_.get<uint32_t>("a tensor's dimension count");
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    if (n_dims > kMostDimensions) {
      return fail(Code::kMalformed, file_, ": tensor ", quoted(tensor.name), " has ", n_dims,
                  " dimensions, at most ", kMostDimensions, " are allowed");
    }
    tensor.shape.resize(n_dims);
    for (uint32_t i = n_dims; i-- > 0;) tensor.shape[i] = cursor_.get<uint64_t>("a tensor's dimension");
    const auto type = cursor_.get<uint32_t>("a tensor's type");
    tensor.offset = cursor_.get<uint64_t>("a tensor's offset");
    ID2VEC_RETURN_IF_ERROR(cursor_.status());
    tensor.dtype = dtype_by_ggml_type(type);
    if (tensor.dtype == nullptr) return unknown_type(tensor.name, type);
    ID2VEC_ASSIGN(tensor.bytes, tensor_bytes(file_, tensor));
    if (tensor.offset % alignment_ != 0) {
      return fail(Code::kMalformed, file_, ": the data of tensor ", quoted(tensor.name), " starts at ",
                  tensor.offset, ", no multiple of the alignment ", alignment_);
    }
    directory_.tensors.push_back(std::move(tensor));
    return {};
  }

  Status unknown_type(std::string_view tensor, uint32_t type) const {
    for (const RemovedType& removed : kRemovedTypes) {
      if (removed.number != type) continue;
      return fail(Code::kUnsupported, file_, ": tensor ", quoted(tensor), " has type ", type, " (",
                  removed.name, "), which GGUF files do not use any more; quantize the model anew");
    }
    return fail(Code::kUnsupported, file_, ": tensor ", quoted(tensor), " has type ", type,
                ", which is not known to this version of id2vec");
  }

  // Turns offsets into the data section into offsets into the file.
  Status place_tensors() {
    const uint64_t data = (cursor_.position() + alignment_ - 1) & ~(alignment_ - 1);
    for (Tensor& tensor : directory_.tensors) {
      const std::optional<uint64_t> start = checked_add(data, tensor.offset);
      const std::optional<uint64_t> end = start ? checked_add(*start, tensor.bytes) : std::nullopt;
      if (!end || (*end > file_size_ && tensor.bytes > 0)) {
        return fail(Code::kTruncated, file_, ": tensor ", quoted(tensor.name), " takes ", tensor.bytes,
                    " bytes at offset ", tensor.offset, " of the data section (from byte ", data,
                    " on), but the file ends at byte ", file_size_);
      }
      tensor.offset = *start;
    }
    return check_unique_names(file_, directory_.tensors);
  }

  Cursor cursor_;
  std::string_view file_;
  uint64_t file_size_;
  uint64_t alignment_ = kDefaultAlignment;
  Directory directory_;
};

Result<Directory> read_one(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const uint64_t size, files.size(file));
  Header header(files, file, size);
  ID2VEC_RETURN_IF_ERROR(header.read());
  return std::move(header.directory());
}

// Splits
// -----------------------------------------------------------------------------------------------------

// A whole number ≥ 0 whatever its type in the file; nullopt where it is absent or something else.
std::optional<uint64_t> whole_number(const Directory& directory, std::string_view key) {
  const double value = directory.number(key, -1);
  if (!(value >= 0 && value <= 1e15) || value != static_cast<double>(static_cast<uint64_t>(value)))
    return std::nullopt;
  return static_cast<uint64_t>(value);
}

std::string five_digits(uint64_t value) {
  const std::string digits = concat(value);
  return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

// "-00002-of-00003.gguf" for shard 1 (from 0) of 3.
std::string split_ending(uint64_t shard, uint64_t count) {
  return concat("-", five_digits(shard + 1), "-of-", five_digits(count), ".gguf");
}

Status check_shard(const Directory& shard, std::string_view file, uint64_t number, uint64_t count) {
  if (whole_number(shard, "split.no") != number || whole_number(shard, "split.count") != count) {
    return fail(Code::kMalformed, file, ": this should be shard ", number + 1, " of ", count,
                ", but its 'split.no' and 'split.count' say otherwise");
  }
  return {};
}

Result<Directory> read_split(FileSet& files, std::string_view file, const Directory& known, uint64_t count) {
  const std::optional<uint64_t> number = whole_number(known, "split.no");
  if (count > limits::kFiles || !number || *number >= count) {
    return fail(Code::kMalformed, file, ": 'split.no' and 'split.count' do not fit together");
  }
  const std::string ending = split_ending(*number, count);
  if (!file.ends_with(ending)) {
    return fail(Code::kNotFound, file, ": this is shard ", *number + 1, " of ", count,
                ", but its name does not end in ", ending,
                ", so the other shards cannot be found; rename the shards");
  }
  const std::string_view stem = file.substr(0, file.size() - ending.size());
  // All beginnings first: every answer starts the reading anew, and most shards have little more than a beginning.
  for (uint64_t i = 0; i < count; ++i) {
    const std::string shard_name = concat(stem, split_ending(i, count));
    ID2VEC_ASSIGN(const uint64_t size, files.size(shard_name));
    ID2VEC_ASSIGN(const Bytes head, files.read(shard_name, 0, std::min(size, limits::kDetectionBytes)));
    if (!is_gguf(head, size)) return fail(Code::kMalformed, shard_name, ": this shard is no GGUF file");
  }
  Directory whole;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string shard_name = concat(stem, split_ending(i, count));
    ID2VEC_ASSIGN(Directory shard, read_one(files, shard_name));
    ID2VEC_RETURN_IF_ERROR(check_shard(shard, shard_name, i, count));
    if (i == 0) {
      whole = std::move(shard);
      continue;
    }
    ID2VEC_RETURN_IF_ERROR(append_shard(whole, std::move(shard)));
  }
  const uint64_t expected = whole_number(whole, "split.tensors.count").value_or(whole.tensors.size());
  if (expected != whole.tensors.size()) {
    return fail(Code::kMalformed, file, ": 'split.tensors.count' is ", expected, ", but the ", count,
                " shards have ", whole.tensors.size(), " tensors");
  }
  ID2VEC_RETURN_IF_ERROR(check_unique_names(file, whole.tensors));
  return whole;
}

}  // namespace

bool is_gguf(Bytes head, uint64_t) { return head.size() >= 4 && std::memcmp(head.data(), "GGUF", 4) == 0; }

Result<Directory> read_gguf(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(Directory directory, read_one(files, file));
  if (!directory.metadata.contains("split.count")) return directory;
  const std::optional<uint64_t> count = whole_number(directory, "split.count");
  if (!count) return fail(Code::kMalformed, file, ": 'split.count' is no number of shards");
  if (*count <= 1) return directory;
  return read_split(files, file, directory, *count);
}

}  // namespace id2vec

#include "containers/safetensors.h"

#include <algorithm>

#include "containers/json.h"
#include "containers/limits.h"
#include "core/sort.h"
#include "core/text.h"

namespace id2vec {
namespace {

constexpr uint64_t kLengthBytes = 8;

// Every dtype of the format, in bits. Those without a row in formats/catalog.h are measured but not read.
struct StoredDtype {
  std::string_view name;
  uint32_t bits;
};
constexpr StoredDtype kStoredDtypes[] = {
    {"F64", 64}, {"F32", 32}, {"F16", 16},        {"BF16", 16},       {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"I64", 64}, {"I32", 32}, {"I16", 16},        {"I8", 8},          {"U64", 64},    {"U32", 32},
    {"U16", 16}, {"U8", 8},   {"BOOL", 8},        {"F8_E8M0", 8},     {"F6_E2M3", 6}, {"F6_E3M2", 6},
    {"F4", 4},   {"C64", 64}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
};

const StoredDtype* stored_dtype(std::string_view name) {
  for (const StoredDtype& dtype : kStoredDtypes) {
    if (dtype.name == name) return &dtype;
  }
  return nullptr;
}

// A tensor's entry as the JSON has it. `offset` and `bytes` of the tensor are relative to the data section.
struct Entry {
  Tensor tensor;
  const StoredDtype* stored = nullptr;
};

class Header {
 public:
  Header(std::string_view file, std::string_view text) : file_(file), json_(text) {
    directory_.container = "safetensors";
    directory_.files.emplace_back(file);
  }

  // `data_bytes` is what follows the header.
  Status read(uint64_t data_start, uint64_t data_bytes) {
    std::string key;
    json_.enter_object();
    while (json_.next_key(key)) {
      if (key == "__metadata__") {
        ID2VEC_RETURN_IF_ERROR(read_metadata());
      } else {
        ID2VEC_RETURN_IF_ERROR(read_entry(key));
      }
    }
    json_.finish();
    ID2VEC_RETURN_IF_ERROR(json_.status(file_));
    ID2VEC_RETURN_IF_ERROR(check_ranges(data_bytes));
    for (Entry& entry : entries_) place(entry, data_start);
    return {};
  }

  Directory& directory() { return directory_; }

 private:
  Status read_metadata() {
    std::string key;
    json_.enter_object();
    while (json_.next_key(key)) {
      if (directory_.metadata.size() == limits::kMetadataEntries) {
        return fail(Code::kLimit, file_, ": there are more metadata entries than the limit of ",
                    limits::kMetadataEntries);
      }
      directory_.metadata.emplace(concat("__metadata__.", key), json_.read_string());
    }
    return json_.status(file_);
  }

  Status read_entry(const std::string& name) {
    if (entries_.size() == limits::kTensors) {
      return fail(Code::kLimit, file_, ": there are more tensors than the limit of ", limits::kTensors);
    }
    if (name.size() > limits::kNameBytes) {
      return fail(Code::kLimit, file_, ": a tensor's name of ", name.size(),
                  " bytes is longer than the limit of ", limits::kNameBytes);
    }
    Entry entry;
    entry.tensor.name = name;
    std::string dtype, key;
    std::vector<uint64_t> offsets;
    bool has_shape = false;
    json_.enter_object();
    while (json_.next_key(key)) {
      if (key == "dtype") {
        dtype = json_.read_string();
      } else if (key == "shape") {
        ID2VEC_RETURN_IF_ERROR(read_integers(name, limits::kDimensions, entry.tensor.shape));
        has_shape = true;
      } else if (key == "data_offsets") {
        ID2VEC_RETURN_IF_ERROR(read_integers(name, 2, offsets));
      } else {
        json_.skip_value();
      }
    }
    ID2VEC_RETURN_IF_ERROR(json_.status(file_));
    if (dtype.empty() || !has_shape || offsets.size() != 2) {
      return fail(Code::kMalformed, file_, ": tensor ", quoted(name),
                  " lacks a dtype, a shape or two data_offsets");
    }
    ID2VEC_RETURN_IF_ERROR(measure(entry, dtype, offsets));
    entries_.push_back(std::move(entry));
    return {};
  }

  Status read_integers(std::string_view name, size_t most, std::vector<uint64_t>& to) {
    json_.enter_array();
    while (json_.next_element()) {
      if (to.size() == most) {
        return fail(Code::kLimit, file_, ": a shape or data_offsets of tensor ", quoted(name),
                    " has more than ", most, " numbers");
      }
      to.push_back(json_.read_u64());
    }
    return json_.status(file_);
  }

  Status measure(Entry& entry, std::string_view dtype, const std::vector<uint64_t>& offsets) {
    Tensor& tensor = entry.tensor;
    entry.stored = stored_dtype(dtype);
    if (entry.stored == nullptr) {
      return fail(Code::kUnsupported, file_, ": tensor ", quoted(tensor.name), " has the unknown dtype ",
                  quoted(dtype));
    }
    tensor.dtype = dtype_by_name(entry.stored->name);
    std::optional<uint64_t> bits = entry.stored->bits;
    for (const uint64_t size : tensor.shape) bits = bits ? checked_mul(*bits, size) : std::nullopt;
    if (!bits) {
      return fail(Code::kMalformed, file_, ": the dimensions of tensor ", quoted(tensor.name),
                  " multiply to more than 64 bits can hold");
    }
    const uint64_t bytes = *bits / 8 + (*bits % 8 != 0);
    if (offsets[1] < offsets[0] || offsets[1] - offsets[0] != bytes) {
      return fail(Code::kMalformed, file_, ": tensor ", quoted(tensor.name), " takes ", bytes,
                  " bytes by its shape and dtype, but its data_offsets are ", offsets[0], " and ",
                  offsets[1]);
    }
    tensor.offset = offsets[0];
    tensor.bytes = bytes;
    return {};
  }

  // The ranges in the order of the file must touch: each begins where the one before ends.
  Status check_ranges(uint64_t data_bytes) const {
    std::vector<uint32_t> order(entries_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    heap_sort(order, [&](uint32_t a, uint32_t b) {
      const Tensor &left = entries_[a].tensor, &right = entries_[b].tensor;
      return left.offset != right.offset ? left.offset < right.offset : left.bytes < right.bytes;
    });
    uint64_t end = 0;
    for (const uint32_t i : order) {
      const Tensor& tensor = entries_[i].tensor;
      if (tensor.offset != end) {
        return fail(Code::kMalformed, file_, ": tensor ", quoted(tensor.name), " starts at data offset ",
                    tensor.offset,
                    tensor.offset < end ? ", inside of the tensor before it, which ends at "
                                        : ", leaving a hole behind the tensor before it, which ends at ",
                    end);
      }
      end += tensor.bytes;
    }
    if (end > data_bytes) {
      return fail(Code::kTruncated, file_, ": the tensors take ", end, " bytes, but only ", data_bytes,
                  " follow the header; fetch the whole file again");
    }
    if (end < data_bytes) {
      return fail(Code::kMalformed, file_, ": ", data_bytes - end,
                  " bytes follow the last tensor, which the format forbids");
    }
    return {};
  }

  void place(Entry& entry, uint64_t data_start) {
    if (entry.tensor.dtype == nullptr) {
      directory_.skipped.push_back(concat(file_, ": tensor ", quoted(entry.tensor.name), " has the dtype ",
                                          entry.stored->name, ", which is not read"));
      return;
    }
    entry.tensor.offset += data_start;
    directory_.tensors.push_back(std::move(entry.tensor));
  }

  std::string_view file_;
  JsonReader json_;
  std::vector<Entry> entries_;
  Directory directory_;
};

bool is_json_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

// Also recognises a header whose length lies or that starts with whitespace, so that the reader can say so.
bool is_safetensors(Bytes head, uint64_t file_size) {
  if (head.size() < kLengthBytes + 2) return false;
  const auto length = load_le<uint64_t>(head.data());
  const uint8_t first = head[kLengthBytes], second = head[kLengthBytes + 1];
  if (length >= 2 && length <= file_size - kLengthBytes) return first == '{' || is_json_space(first);
  const bool is_text =
      std::all_of(head.begin(), head.begin() + kLengthBytes, [](uint8_t c) { return c >= ' ' && c < 0x7f; });
  return !is_text && first == '{' && (second == '"' || second == '}');
}

Result<Directory> read_safetensors(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const uint64_t size, files.size(file));
  ID2VEC_ASSIGN(const Bytes length_bytes, files.read(file, 0, kLengthBytes));
  const auto length = load_le<uint64_t>(length_bytes.data());
  if (length > size - kLengthBytes) {
    return fail(Code::kTruncated, file, ": the header announces ", length, " bytes, but only ",
                size - kLengthBytes, " follow");
  }
  if (length > limits::kSafetensorsHeaderBytes) {
    return fail(Code::kLimit, file, ": a header of ", length, " bytes is longer than the limit of ",
                limits::kSafetensorsHeaderBytes);
  }
  ID2VEC_ASSIGN(const Bytes text, files.read(file, kLengthBytes, length));
  if (text.empty() || text[0] != '{') {
    return fail(Code::kMalformed, file, ": the header does not start with '{', as the format demands");
  }
  Header header(file, {reinterpret_cast<const char*>(text.data()), text.size()});
  ID2VEC_RETURN_IF_ERROR(header.read(kLengthBytes + length, size - kLengthBytes - length));
  return std::move(header.directory());
}

}  // namespace id2vec

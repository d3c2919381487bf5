#include "tools/safetensors_writer.h"

#include <algorithm>
#include <numeric>

#include "core/sort.h"
#include "core/text.h"

namespace id2vec {
namespace {

constexpr std::string_view kMetadataPrefix = "__metadata__.";

void append_json_string(std::vector<uint8_t>& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(byte);
    } else if (byte < 0x20) {
      append(out, "\\u00");
      out.push_back(uint8_t(kHex[byte >> 4]));
      out.push_back(uint8_t(kHex[byte & 15]));
    } else {
      out.push_back(byte);
    }
  }
  out.push_back('"');
}

void append_numbers(std::vector<uint8_t>& out, std::span<const uint64_t> numbers) {
  out.push_back('[');
  for (size_t i = 0; i < numbers.size(); ++i) append(out, concat(i == 0 ? "" : ",", numbers[i]));
  out.push_back(']');
}

void append_entry(std::vector<uint8_t>& out, const Tensor& tensor, uint64_t begin, uint64_t end) {
  append_json_string(out, tensor.name);
  append(out, concat(":{\"dtype\":\"", tensor.dtype->name, "\",\"shape\":"));
  append_numbers(out, tensor.shape);
  append(out, ",\"data_offsets\":");
  const uint64_t offsets[] = {begin, end};
  append_numbers(out, offsets);
  out.push_back('}');
}

// `"__metadata__":{…},` or nothing.
void append_metadata(std::vector<uint8_t>& out, const Directory& directory) {
  bool first = true;
  for (const auto& [key, value] : directory.metadata) {
    const std::string* text = std::get_if<std::string>(&value);
    if (text == nullptr || !key.starts_with(kMetadataPrefix)) continue;
    append(out, first ? "\"__metadata__\":{" : ",");
    append_json_string(out, std::string_view(key).substr(kMetadataPrefix.size()));
    out.push_back(':');
    append_json_string(out, *text);
    first = false;
  }
  if (!first) append(out, "},");
}

Status check_dtype(const Tensor& tensor) {
  if (tensor.dtype->block_size == 1 && !tensor.dtype->planar) return {};
  return fail(Code::kUnsupported, "The dtype ", tensor.dtype->name, " of ", quoted(tensor.name),
              " is not one of safetensors'; write GGUF or choose another type.");
}

std::vector<uint32_t> widest_first(const std::vector<Tensor>& tensors) {
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  heap_sort(order, [&](uint32_t a, uint32_t b) {
    const uint32_t width_a = tensors[a].dtype->block_bytes, width_b = tensors[b].dtype->block_bytes;
    return width_a != width_b ? width_a > width_b : a < b;
  });
  return order;
}

}  // namespace

Result<FileLayout> safetensors_layout(const Directory& directory) {
  FileLayout layout;
  layout.offsets.resize(directory.tensors.size());
  layout.order = widest_first(directory.tensors);
  ID2VEC_RETURN_IF_ERROR(check_unique_names("safetensors", directory.tensors));
  std::vector<uint8_t>& header = layout.header;
  header.resize(8);
  header.push_back('{');
  append_metadata(header, directory);
  uint64_t end = 0;
  for (uint32_t i : layout.order) {
    const Tensor& tensor = directory.tensors[i];
    ID2VEC_RETURN_IF_ERROR(check_dtype(tensor));
    ID2VEC_ASSIGN(const uint64_t bytes, tensor_bytes("safetensors", tensor));
    append_entry(header, tensor, end, end + bytes);
    header.push_back(',');
    layout.offsets[i] = end;
    end += bytes;
  }
  if (header.back() == ',') header.pop_back();
  header.push_back('}');
  header.resize(static_cast<size_t>(aligned(header.size(), 8)), ' ');
  store_le<uint64_t>(header.data(), header.size() - 8);
  for (uint64_t& offset : layout.offsets) offset += header.size();
  layout.bytes = header.size() + end;
  return layout;
}

}  // namespace id2vec

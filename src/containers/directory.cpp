#include "containers/directory.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "containers/limits.h"
#include "core/bytes.h"
#include "core/sort.h"
#include "core/text.h"

namespace id2vec {

uint64_t Tensor::elements() const {
  uint64_t product = 1;
  for (const uint64_t size : shape) product *= size;
  return product;
}

Result<uint64_t> tensor_bytes(std::string_view where, const Tensor& tensor) {
  std::optional<uint64_t> elements = 1;
  for (const uint64_t size : tensor.shape) {
    if (elements) elements = checked_mul(*elements, size);
  }
  const uint32_t block = tensor.dtype->block_size;
  const uint64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (row % block != 0) {
    return fail(Code::kMalformed, where, ": tensor ", quoted(tensor.name), " has rows of ", row,
                " weights, but ", tensor.dtype->name, " stores blocks of ", block);
  }
  const std::optional<uint64_t> bytes =
      elements ? checked_mul(*elements / block, tensor.dtype->block_bytes) : std::nullopt;
  if (!bytes)
    return fail(Code::kMalformed, where, ": the dimensions of tensor ", quoted(tensor.name),
                " multiply to more than 64 bits can hold");
  return *bytes;
}

Status check_unique_names(std::string_view where, const std::vector<Tensor>& tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const Tensor& tensor : tensors) names.push_back(tensor.name);
  heap_sort(names);
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin == names.end()) return {};
  return fail(Code::kMalformed, where, ": two tensors are called ", quoted(*twin));
}

Status append_shard(Directory& whole, Directory shard) {
  if (whole.tensors.size() + shard.tensors.size() > limits::kTensors) {
    return fail(Code::kLimit, "the model has more tensors than the limit of ", limits::kTensors);
  }
  std::vector<uint32_t> file_of(shard.files.size());
  for (size_t i = 0; i < shard.files.size(); ++i) file_of[i] = whole.file_index(shard.files[i]);
  for (Tensor& tensor : shard.tensors) {
    tensor.file = file_of[tensor.file];
    whole.tensors.push_back(std::move(tensor));
  }
  whole.metadata.merge(shard.metadata);
  for (std::string& sentence : shard.warnings) whole.warnings.push_back(std::move(sentence));
  for (std::string& sentence : shard.skipped) whole.skipped.push_back(std::move(sentence));
  return {};
}

const Tensor* Directory::find(std::string_view name) const {
  const auto before = [&](uint32_t a, uint32_t b) {
    const int order = tensors[a].name.compare(tensors[b].name);
    return order != 0 ? order < 0 : a < b;
  };
  if (by_name_.size() != tensors.size()) {
    by_name_.resize(tensors.size());
    std::iota(by_name_.begin(), by_name_.end(), 0u);
    heap_sort(by_name_, before);
  }
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](uint32_t i, std::string_view text) { return tensors[i].name < text; });
  return found != by_name_.end() && tensors[*found].name == name ? &tensors[*found] : nullptr;
}

uint32_t Directory::file_index(std::string_view name) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i] == name) return static_cast<uint32_t>(i);
  }
  files.emplace_back(name);
  return static_cast<uint32_t>(files.size() - 1);
}

double Directory::number(std::string_view key, double fallback) const {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return fallback;
  const MetadataValue& value = found->second;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<uint64_t>(&value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<double>(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return fallback;
}

std::string_view Directory::text(std::string_view key, std::string_view fallback) const {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return fallback;
  const auto* text = std::get_if<std::string>(&found->second);
  return text == nullptr ? fallback : std::string_view(*text);
}

}  // namespace id2vec

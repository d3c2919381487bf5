#include "containers/strided.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "containers/limits.h"
#include "core/bytes.h"
#include "core/sort.h"
#include "core/text.h"

namespace id2vec {
namespace {

bool is_contiguous(const std::vector<uint64_t>& shape, const std::vector<uint64_t>& strides) {
  uint64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

// Elements from the first to the last one, both included; nullopt where that passes 64 bits.
std::optional<uint64_t> extent(const std::vector<uint64_t>& shape, const std::vector<uint64_t>& strides) {
  std::optional<uint64_t> last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::optional<uint64_t> reach = checked_mul(shape[i] - 1, strides[i]);
    if (!reach || !(last = checked_add(*last, *reach))) return std::nullopt;
  }
  return checked_add(*last, 1);
}

// True if every dimension steps over all that the dimensions of smaller strides can reach.
bool elements_apart(const std::vector<uint64_t>& shape, const std::vector<uint64_t>& strides) {
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1) steps.emplace_back(strides[i], shape[i]);
  }
  heap_sort(steps);
  uint64_t reach = 0;
  for (const auto& [stride, count] : steps) {
    if (stride <= reach) return false;
    reach += stride * (count - 1);
  }
  return true;
}

}  // namespace

Status set_strides(std::string_view where, Tensor& tensor, std::vector<uint64_t> strides) {
  const std::string name = quoted(tensor.name);
  if (tensor.shape.size() > limits::kDimensions) {
    return fail(Code::kLimit, where, ": tensor ", name, " has ", tensor.shape.size(),
                " dimensions, more than ", limits::kDimensions);
  }
  if (strides.size() != tensor.shape.size()) {
    return fail(Code::kMalformed, where, ": tensor ", name, " has ", tensor.shape.size(), " dimensions and ",
                strides.size(), " strides");
  }
  ID2VEC_ASSIGN(tensor.bytes, tensor_bytes(where, tensor));
  tensor.strides.clear();
  if (tensor.bytes == 0 || is_contiguous(tensor.shape, strides)) return {};
  const std::optional<uint64_t> reach = extent(tensor.shape, strides);
  const std::optional<uint64_t> bytes = reach ? checked_mul(*reach, tensor.dtype->block_bytes) : std::nullopt;
  if (!bytes) return fail(Code::kMalformed, where, ": the strides of tensor ", name, " pass 64 bits");
  if (!elements_apart(tensor.shape, strides)) {
    return fail(Code::kUnsupported, where, ": tensor ", name,
                " is an expanded or overlapping view; save tensor.contiguous() instead");
  }
  tensor.bytes = *bytes;
  tensor.strides = std::move(strides);
  return {};
}

}  // namespace id2vec

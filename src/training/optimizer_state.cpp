// The state of an optimizer as bytes, little-endian:
//
//   1. magic            8 bytes  "ID2VOPT1"
//   2. kind             u32      index of OptimizerKind
//   3. flags            u32      bit 0: dense, bit 1: per-row steps
//   4. rows V           u64
//   5. cols d           u32
//   6. slots            u32      rows with state (V in dense mode, 0 before its first step)
//   7. steps            u64
//   8. ids              u32 × slots      (lazy only), each < V, no id twice
//   9. per-row steps    u32 × slots      (bit 1 only)
//  10. first, second    f32 × slots × width of the kind
#include "core/text.h"
#include "training/optimizer.h"

namespace id2vec {
namespace {

constexpr uint64_t kMagic = 0x3154504f56324449;  // "ID2VOPT1"
constexpr size_t kHeaderBytes = 40;
constexpr uint32_t kDenseFlag = 1, kRowStepsFlag = 2;

template <class... Parts>
Status refuse(const Parts&... what) {
  return fail(Code::kMalformed, "the optimizer state ", what..., "; nothing was restored");
}

template <class T>
uint8_t* write_all(uint8_t* to, std::span<const T> values) {
  if (!values.empty()) std::memcpy(to, values.data(), values.size_bytes());
  return to + values.size_bytes();
}

template <class T>
bool read_all(const uint8_t*& from, size_t count, Array<T>& values) {
  if (!values.resize(count)) return false;
  if (count > 0) std::memcpy(values.data(), from, count * sizeof(T));
  from += count * sizeof(T);
  return true;
}

}  // namespace

Status Optimizer::save(Array<uint8_t>& bytes) const {
  const std::span<const uint32_t> ids = map_.ids();
  const size_t length = kHeaderBytes + ids.size_bytes() + row_steps_.span().size_bytes() +
                        first_.span().size_bytes() + second_.span().size_bytes();
  bytes.clear();
  if (!bytes.resize(length))
    return fail(Code::kOutOfMemory, "no memory left for a copy of the optimizer's state");
  uint8_t* to = bytes.data();
  store_le(to, kMagic);
  store_le(to + 8, static_cast<uint32_t>(options_.kind));
  store_le(to + 12, (options_.dense ? kDenseFlag : 0) | (has_row_steps() ? kRowStepsFlag : 0));
  store_le(to + 16, rows_);
  store_le(to + 24, cols_);
  store_le(to + 28, static_cast<uint32_t>(state_rows()));
  store_le(to + 32, steps_);
  to = write_all(to + kHeaderBytes, ids);
  to = write_all(to, row_steps_.span());
  to = write_all(to, first_.span());
  write_all(to, second_.span());
  return {};
}

Status Optimizer::restore(Bytes bytes) {
  if (bytes.size() < kHeaderBytes || load_le<uint64_t>(bytes.data()) != kMagic) {
    return refuse("does not begin with the magic \"ID2VOPT1\"");
  }
  const uint8_t* from = bytes.data();
  const uint32_t flags = load_le<uint32_t>(from + 12);
  if (load_le<uint32_t>(from + 8) != static_cast<uint32_t>(options_.kind) ||
      flags != ((options_.dense ? kDenseFlag : 0) | (has_row_steps() ? kRowStepsFlag : 0))) {
    return refuse("belongs to another optimizer (its kind, dense or perRowSteps differ)");
  }
  if (load_le<uint64_t>(from + 16) != rows_ || load_le<uint32_t>(from + 24) != cols_) {
    return refuse("belongs to a table of another shape, [", load_le<uint64_t>(from + 16), ", ",
                  load_le<uint32_t>(from + 24), "] where this one is [", rows_, ", ", cols_, "]");
  }
  const uint64_t slots = load_le<uint32_t>(from + 28);
  if (slots > rows_ || (options_.dense && slots != 0 && slots != rows_)) {
    return refuse("counts ", slots, " rows of a table of ", rows_);
  }
  const StateWidths width = widths();
  const uint64_t per_row =
      4 * ((options_.dense ? 0 : 1) + (has_row_steps() ? 1 : 0) + width.first + width.second);
  if (bytes.size() - kHeaderBytes != slots * per_row) {
    return refuse("has ", bytes.size(), " bytes where its header promises ", kHeaderBytes + slots * per_row);
  }
  Optimizer restored(options_, rows_, cols_);
  restored.steps_ = load_le<uint64_t>(from + 32);
  restored.dense_ready_ = options_.dense && slots > 0;
  from += kHeaderBytes;
  const size_t count = static_cast<size_t>(slots);
  for (size_t slot = 0; !options_.dense && slot < count; ++slot, from += 4) {
    const uint32_t id = load_le<uint32_t>(from);
    if (id >= rows_ || restored.map_.find(id) != RowMap::kNone) {
      return refuse("names row ", id, " twice or outside the table");
    }
    if (restored.map_.insert(id) == RowMap::kNone)
      return fail(Code::kOutOfMemory, "no memory left for the optimizer's state");
  }
  if (!read_all(from, has_row_steps() ? count : 0, restored.row_steps_) ||
      !read_all(from, count * width.first, restored.first_) ||
      !read_all(from, count * width.second, restored.second_)) {
    return fail(Code::kOutOfMemory, "no memory left for the optimizer's state");
  }
  *this = std::move(restored);
  return {};
}

}  // namespace id2vec

#include "tools/resize.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <vector>

#include "core/text.h"
#include "tools/encoders.h"

namespace id2vec {
namespace {

constexpr std::string_view kMerges = "tokenizer.ggml.merges";
constexpr uint32_t kStringType = 8;  // GGUF's number
constexpr int32_t kUnused = 5;       // tokenizer.ggml.token_type
constexpr float kUnusedScore = -10000;

Result<const Encoder*> encoder_of(const Table& table) {
  const TableSpec& spec = table.spec();
  const Encoder* encoder = encoder_for(spec.dtype->name);
  if (encoder != nullptr && (!spec.dtype->planar || is_row_int8(spec))) return encoder;
  return fail(Code::kUnsupported, "There is no encoder for ", spec.dtype->name,
              spec.dtype->planar ? " with scales of this kind" : "",
              ", so the mean of the rows cannot be written: let new rows be zeros, or choose another type.");
}

// Mean of all rows, column by column.
Status mean_row(const Table& table, std::vector<float>& mean) {
  const uint32_t cols = table.spec().cols;
  std::vector<double> sums(cols);
  std::vector<float> row(cols);
  for (uint32_t id = 0; id < table.spec().rows; ++id) {
    ID2VEC_RETURN_IF_ERROR(table.lookup({&id, 1}, row));
    for (uint32_t i = 0; i < cols; ++i) sums[i] += row[i];
  }
  mean.resize(cols);
  for (uint32_t i = 0; i < cols; ++i) mean[i] = static_cast<float>(sums[i] / double(table.spec().rows));
  return {};
}

RowPlanes planes_at(Table& table, uint64_t row) {
  RowPlanes out{};
  for (size_t i = 0; i < out.size(); ++i) {
    const MutableBytes plane = table.plane(i);
    out[i] = plane.data() + row * table.view().planes[i].row_bytes;
  }
  return out;
}

Status fill_new_rows(const Table& source, Table& target, NewRows fill) {
  if (fill == NewRows::kZeros) return {};  // they are there
  ID2VEC_ASSIGN(const Encoder* encoder, encoder_of(source));
  std::vector<float> mean;
  ID2VEC_RETURN_IF_ERROR(mean_row(source, mean));
  for (uint64_t row = source.spec().rows; row < target.spec().rows; ++row) {
    encoder->encode(mean.data(), mean.size(), planes_at(target, row));
  }
  return {};
}

// The bytes that both have, then zeros.
void copy_plane(const Plane& from, MutableBytes to) {
  const size_t kept = std::min<size_t>(from.bytes, to.size());
  if (kept > 0) std::memcpy(to.data(), from.data, kept);
  std::fill(to.begin() + static_cast<ptrdiff_t>(kept), to.end(), uint8_t{0});
}

// Calls `use(merge)` for "left right" after "left right".
template <class Use>
void for_each_merge(const MetadataValue& value, Use use) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& merge : *list) use(std::string_view(merge));
  }
  const auto* array = std::get_if<LongArray>(&value);
  if (array == nullptr || array->type != kStringType) return;
  const char* at = reinterpret_cast<const char*>(array->bytes.data());
  const char* end = at + array->bytes.size();
  while (end - at >= 8) {
    const auto length = load_le<uint64_t>(reinterpret_cast<const uint8_t*>(at));
    if (length > static_cast<uint64_t>(end - at - 8)) return;
    use(std::string_view(at + 8, length));
    at += 8 + length;
  }
}

void drop_merges(Directory& directory) {
  const auto found = directory.metadata.find(kMerges);
  if (found == directory.metadata.end()) return;
  std::unordered_set<std::string_view> pieces;
  for (size_t i = 0; i < directory.vocabulary.size(); ++i) pieces.insert(directory.vocabulary.piece(i));
  std::vector<std::string> kept;
  for_each_merge(found->second, [&](std::string_view merge) {
    const size_t space = merge.find(' ', 1);  // a piece may begin with one
    if (space == std::string_view::npos) return;
    if (pieces.contains(concat(merge.substr(0, space), merge.substr(space + 1)))) kept.emplace_back(merge);
  });
  found->second = std::move(kept);
}

void cut(Vocabulary& vocabulary, size_t size) {
  vocabulary.offsets.resize(size + 1);
  vocabulary.text.resize(vocabulary.offsets.back());
  if (!vocabulary.scores.empty()) vocabulary.scores.resize(size);
  if (!vocabulary.types.empty()) vocabulary.types.resize(size);
}

void extend(Vocabulary& vocabulary, size_t size) {
  if (vocabulary.types.empty()) vocabulary.types.assign(vocabulary.size(), 1);
  for (size_t id = vocabulary.size(); id < size; ++id) {
    vocabulary.text += concat("[PAD", id, "]");
    vocabulary.offsets.push_back(static_cast<uint32_t>(vocabulary.text.size()));
    vocabulary.types.push_back(kUnused);
    if (!vocabulary.scores.empty()) vocabulary.scores.push_back(kUnusedScore);
  }
}

}  // namespace

Result<std::unique_ptr<Table>> resize_table(const Table& source, uint64_t rows, NewRows fill) {
  TableSpec spec = source.spec();
  if (rows == 0) return fail(Code::kInvalidArgument, "A table needs at least one row.");
  if (spec.affine.per_tensor && rows > spec.rows) {
    return fail(Code::kUnsupported, "All rows of this ", spec.dtype->name,
                " table share one scale, so it cannot get new rows as it is: choose another type.");
  }
  spec.rows = rows;
  ID2VEC_ASSIGN(std::unique_ptr<Table> target, Table::allocate(spec, source.kernels()));
  for (size_t i = 0; i < source.view().planes.size(); ++i)
    copy_plane(source.view().planes[i], target->plane(i));
  if (rows > source.spec().rows) ID2VEC_RETURN_IF_ERROR(fill_new_rows(source, *target, fill));
  return target;
}

Result<std::unique_ptr<Table>> resize_vector(const Table& source, uint32_t values, NewRows fill) {
  TableSpec spec = source.spec();
  if (spec.dtype->block_size != 1 || spec.dtype->planar) {
    return fail(Code::kUnsupported, "A vector of ", spec.dtype->name, " cannot be given another length.");
  }
  const uint32_t before = spec.cols;
  spec.cols = values;
  ID2VEC_ASSIGN(std::unique_ptr<Table> target, Table::allocate(spec, source.kernels()));
  copy_plane(source.view().planes[0], target->plane(0));
  if (values <= before || fill == NewRows::kZeros) return target;
  ID2VEC_ASSIGN(const Encoder* encoder, encoder_of(source));
  std::vector<float> floats(before);
  constexpr uint32_t kFirst = 0;
  ID2VEC_RETURN_IF_ERROR(source.lookup({&kFirst, 1}, floats));
  double sum = 0;
  for (const float value : floats) sum += value;
  const std::vector<float> mean(values - before, static_cast<float>(sum / before));
  uint8_t* behind = target->plane(0).data() + size_t(before) * spec.dtype->block_bytes;
  encoder->encode(mean.data(), mean.size(), {behind, nullptr, nullptr});
  return target;
}

void resize_vocabulary(Directory& directory, size_t size) {
  Vocabulary& vocabulary = directory.vocabulary;
  if (vocabulary.size() == 0) return;
  if (size < vocabulary.size()) {
    cut(vocabulary, size);
    drop_merges(directory);
  } else {
    extend(vocabulary, size);
  }
}

}  // namespace id2vec

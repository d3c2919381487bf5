#include "containers/shard_index.h"

#include <algorithm>

#include "containers/json.h"
#include "containers/limits.h"
#include "containers/reader.h"
#include "core/sort.h"
#include "core/text.h"

namespace id2vec {
namespace {

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

struct WeightMap {
  std::vector<std::string> files;  // each once, sorted
  std::vector<std::string> tensors;
};

Status read_weight_map(JsonReader& json, std::string_view file, WeightMap& map) {
  std::string tensor;
  json.enter_object();
  while (json.next_key(tensor)) {
    std::string shard = json.read_string();
    if (!json.ok()) break;
    if (!is_sibling_name(shard)) {
      return fail(Code::kMalformed, file, ": the shard name ", quoted(shard),
                  " is no plain relative file name");
    }
    if (map.tensors.size() == limits::kTensors) {
      return fail(Code::kLimit, file, ": there are more tensors than the limit of ", limits::kTensors);
    }
    map.tensors.push_back(tensor);
    // Tensors of one shard mostly follow each other.
    if (map.files.empty() || map.files.back() != shard) map.files.push_back(std::move(shard));
  }
  heap_sort(map.files);
  map.files.erase(std::unique(map.files.begin(), map.files.end()), map.files.end());
  if (map.files.size() > limits::kFiles) {
    return fail(Code::kLimit, file, ": ", map.files.size(), " shards are more than the limit of ",
                limits::kFiles);
  }
  return json.status(file);
}

Result<WeightMap> read_index(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const uint64_t size, files.size(file));
  if (size > limits::kJsonBytes) {
    return fail(Code::kLimit, file, ": an index of ", size, " bytes is larger than the limit of ",
                limits::kJsonBytes);
  }
  ID2VEC_ASSIGN(const Bytes bytes, files.read(file, 0, size));
  JsonReader json(as_text(bytes));
  WeightMap map;
  std::string key;
  json.enter_object();
  while (json.next_key(key)) {
    if (key != "weight_map") {
      json.skip_value();
      continue;
    }
    ID2VEC_RETURN_IF_ERROR(read_weight_map(json, file, map));
  }
  json.finish();
  ID2VEC_RETURN_IF_ERROR(json.status(file));
  if (map.files.empty())
    return fail(Code::kMalformed, file, ": the \"weight_map\" of the index names no shard");
  return map;
}

// Asks for the beginning of a shard. All beginnings are asked for before the first one is read, since every answer
// starts the reading anew.
Status prepare_shard(FileSet& files, std::string_view index, const std::string& shard) {
  ID2VEC_ASSIGN(const bool present, files.exists(shard));
  if (!present) return fail(Code::kNotFound, index, ": the shard ", quoted(shard), " is missing");
  ID2VEC_ASSIGN(const uint64_t size, files.size(shard));
  ID2VEC_ASSIGN(const Bytes head, files.read(shard, 0, std::min(size, limits::kDetectionBytes)));
  if (!is_shard_index(head, size)) return {};
  return fail(Code::kMalformed, index, ": the shard ", quoted(shard), " is an index itself");
}

// Every tensor of the index must be in some shard. Where shards hold tensors of a dtype that is not read, these are
// not told from missing ones.
Status check_complete(std::string_view index, const WeightMap& map, const Directory& directory) {
  if (!directory.skipped.empty()) return {};
  for (const std::string& tensor : map.tensors) {
    if (directory.find(tensor) != nullptr) continue;
    return fail(Code::kMalformed, index, ": tensor ", quoted(tensor),
                " of the index is in none of the shards");
  }
  return {};
}

}  // namespace

bool is_shard_index(Bytes head, uint64_t) {
  const std::string_view text = as_text(head);
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text.find("\"weight_map\"") != std::string_view::npos;
}

Result<Directory> read_shard_index(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const WeightMap map, read_index(files, file));
  for (const std::string& name : map.files) ID2VEC_RETURN_IF_ERROR(prepare_shard(files, file, name));
  Directory whole;
  for (const std::string& name : map.files) {
    ID2VEC_ASSIGN(Directory shard, read_file(files, name));
    if (whole.files.empty()) {
      whole = std::move(shard);
    } else {
      ID2VEC_RETURN_IF_ERROR(append_shard(whole, std::move(shard)));
    }
  }
  ID2VEC_RETURN_IF_ERROR(check_unique_names(file, whole.tensors));
  ID2VEC_RETURN_IF_ERROR(check_complete(file, map, whole));
  return whole;
}

}  // namespace id2vec

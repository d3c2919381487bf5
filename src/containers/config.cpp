#include "containers/config.h"

#include "containers/json.h"
#include "containers/limits.h"
#include "core/text.h"

namespace id2vec {
namespace {

constexpr std::string_view kConfig = "config.json";

using Metadata = decltype(Directory::metadata);

MetadataValue number(const JsonNumber& number) {
  if (!number.is_integer) return number.value;
  if (!number.negative) return number.magnitude;
  if (number.magnitude <= uint64_t{INT64_MAX}) return -static_cast<int64_t>(number.magnitude);
  return number.value;
}

// A list of numbers only or of strings only, if it is short; otherwise its length.
MetadataValue list(JsonReader& json) {
  std::vector<double> numbers;
  std::vector<std::string> strings;
  uint64_t length = 0;
  json.enter_array();
  for (; json.next_element(); ++length) {
    const JsonReader::Kind kind = json.peek();
    const bool room = numbers.size() + strings.size() < limits::kKeptArray;
    if (kind == JsonReader::Kind::kNumber && room) {
      numbers.push_back(json.read_number().value);
    } else if (kind == JsonReader::Kind::kString && room) {
      strings.push_back(json.read_string());
    } else {
      json.skip_value();
    }
  }
  if (numbers.size() == length) return numbers;
  if (strings.size() == length) return strings;
  return LongArray{.length = length};
}

// Recursion is bounded by limits::kConfigDepth. `room`: bytes that names may still take; a value whose name does not
// fit is passed over.
void flatten(JsonReader& json, const std::string& prefix, int depth, uint64_t& room, Metadata& metadata) {
  std::string key;
  json.enter_object();
  while (json.next_key(key)) {
    const JsonReader::Kind kind = json.peek();
    const uint64_t length = prefix.size() + 1 + key.size();
    if (metadata.size() == limits::kMetadataEntries || length > limits::kNameBytes || length > room) {
      json.skip_value();
      continue;
    }
    room -= length;
    const std::string path = concat(prefix, ".", key);
    if (kind == JsonReader::Kind::kObject && depth < limits::kConfigDepth) {
      flatten(json, path, depth + 1, room, metadata);
    } else if (kind == JsonReader::Kind::kBool) {
      metadata.emplace(path, json.read_bool());
    } else if (kind == JsonReader::Kind::kNumber) {
      metadata.emplace(path, number(json.read_number()));
    } else if (kind == JsonReader::Kind::kString) {
      metadata.emplace(path, json.read_string());
    } else if (kind == JsonReader::Kind::kArray) {
      metadata.emplace(path, list(json));
    } else {
      json.skip_value();
    }
  }
}

}  // namespace

Status attach_config(FileSet& files, Directory& directory) {
  ID2VEC_ASSIGN(const bool present, files.exists(kConfig));
  if (!present) return {};
  ID2VEC_ASSIGN(const uint64_t size, files.size(kConfig));
  if (size > limits::kJsonBytes) {
    directory.warnings.push_back(concat(kConfig, ": ", size, " bytes are too many, it is not used"));
    return {};
  }
  ID2VEC_ASSIGN(const Bytes bytes, files.read(kConfig, 0, size));
  JsonReader json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, JsonReader::Dialect::kPython);
  Metadata metadata;
  uint64_t room = size * limits::kConfigNameRatio + (64 << 10);
  flatten(json, "config", 1, room, metadata);
  json.finish();
  if (const Status status = json.status(kConfig); !status.ok()) {
    directory.warnings.push_back(concat(status.message(), "; it is not used"));
    return {};
  }
  directory.metadata.merge(metadata);
  return {};
}

}  // namespace id2vec

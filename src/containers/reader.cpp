#include "containers/reader.h"

#include <algorithm>

#include "containers/config.h"
#include "containers/limits.h"
#include "core/text.h"

namespace id2vec {
namespace {

Result<const ContainerReader*> recognise(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const uint64_t size, files.size(file));
  ID2VEC_ASSIGN(const Bytes head, files.read(file, 0, std::min(size, limits::kDetectionBytes)));
  for (const ContainerReader& reader : container_readers()) {
    if (reader.matches(head, size)) return &reader;
  }
  return unrecognised_file(file, head);
}

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The file to start from: see read_directory.
Result<std::string> starting_file(FileSet& files) {
  const std::string& root = files.root();
  if (const std::string index = index_of_shard(root); !index.empty()) {
    ID2VEC_ASSIGN(const bool present, files.exists(index));
    if (present) return index;
  }
  const Result<uint64_t> size = files.size(root);
  if (size.status().code() == Code::kNotFound) {
    const std::string index = concat(root, ".index.json");
    ID2VEC_ASSIGN(const bool present, files.exists(index));
    if (present) return index;
  }
  if (!size.ok()) return size.status();
  return root;
}

}  // namespace

std::string index_of_shard(std::string_view file) {
  constexpr std::string_view kForm = "-00002-of-00005.";
  const size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || dot + 1 < kForm.size()) return {};
  const std::string_view numbers = file.substr(dot + 1 - kForm.size(), kForm.size());
  const bool matches = numbers[0] == '-' && all_digits(numbers.substr(1, 5)) &&
                       numbers.substr(6, 4) == "-of-" && all_digits(numbers.substr(10, 5));
  if (!matches) return {};
  return concat(file.substr(0, dot + 1 - kForm.size()), file.substr(dot), ".index.json");
}

Result<Directory> read_file(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const ContainerReader* const reader, recognise(files, file));
  return reader->read(files, file);
}

Result<Directory> read_directory(FileSet& files) {
  ID2VEC_ASSIGN(const std::string file, starting_file(files));
  ID2VEC_ASSIGN(const ContainerReader* const reader, recognise(files, file));
  ID2VEC_ASSIGN(Directory directory, reader->read(files, file));
  if (reader->has_config) ID2VEC_RETURN_IF_ERROR(attach_config(files, directory));
  return directory;
}

}  // namespace id2vec

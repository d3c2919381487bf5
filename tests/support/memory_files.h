// A driver of FileSet over files in memory: what TypeScript does over URLs and disks, for tests and fuzz
// targets.
#pragma once

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "containers/file_set.h"
#include "support/inflate.h"

namespace id2vec::test {

class MemoryFiles {
 public:
  MemoryFiles() = default;
  MemoryFiles(std::string name, std::vector<uint8_t> bytes) { add(std::move(name), std::move(bytes)); }

  void add(std::string name, std::vector<uint8_t> bytes) { files_[std::move(name)] = std::move(bytes); }
  // False if it cannot be read.
  bool add_from_disk(std::string name, const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return false;
    add(std::move(name), {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()});
    return true;
  }

  // Runs `reader` (a function of a FileSet that returns a Result) until it no longer wants bytes. With
  // `exact` every want is answered with not one byte more than it must be: the hardest case for a restarted
  // reader.
  template <class Reader>
  auto run(FileSet& files, Reader&& reader, bool exact = false) {
    while (true) {
      auto result = reader(files);
      if (result.status().code() != Code::kNeedBytes) return result;
      ++requests_;
      if (const Status status = answer(files, exact); !status.ok()) return decltype(result)(status);
    }
  }

  // Bytes of a file, virtual ones included; empty where the name is unknown.
  std::vector<uint8_t> bytes(const FileSet& files, std::string_view name) const {
    if (const DeflatedRange* range = files.deflated(name)) {
      const auto archive = files_.find(range->archive);
      if (archive == files_.end()) return {};
      const std::span<const uint8_t> all(archive->second);
      if (range->offset > all.size() || range->bytes > all.size() - range->offset) return {};
      return Inflater(all.subspan(range->offset, range->bytes), range->inflated).run();
    }
    const auto found = files_.find(name);
    return found == files_.end() ? std::vector<uint8_t>() : found->second;
  }

  size_t requests() const { return requests_; }
  uint64_t bytes_fed() const { return bytes_fed_; }

 private:
  Status answer(FileSet& files, bool exact) {
    const Want want = files.want();
    if (want.length == 0) {
      const auto found = files_.find(want.file);
      if (found == files_.end()) {
        files.set_missing(want.file);
      } else {
        files.set_size(want.file, found->second.size());
      }
      return {};
    }
    if (const auto found = files_.find(want.file); found != files_.end())
      return feed(files, want, found->second, exact);
    return feed(files, want, bytes(files, want.file), exact);
  }

  Status feed(FileSet& files, const Want& want, std::span<const uint8_t> source, bool exact) {
    const uint64_t length = exact ? want.length : std::max(want.length, want.suggested);
    if (want.offset > source.size() || length > source.size() - want.offset) {
      return Status(Code::kTruncated, want.file + ": the compressed data ends early");
    }
    ID2VEC_ASSIGN(const MutableBytes room, files.feed(want.file, want.offset, length));
    std::memcpy(room.data(), source.data() + want.offset, length);
    bytes_fed_ += length;
    return {};
  }

  std::map<std::string, std::vector<uint8_t>, std::less<>> files_;
  size_t requests_ = 0;
  uint64_t bytes_fed_ = 0;
};

}  // namespace id2vec::test

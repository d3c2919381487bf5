// Drives a sans-io reader over files in memory, as the TypeScript side does over the network.
//
//   Result<Directory> directory = drive({{"a.gguf", bytes}}, "a.gguf", read_directory);
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "containers/file_set.h"

namespace id2vec {

using Files = std::map<std::string, std::vector<uint8_t>>;

// How many bytes to hand over of a range that is wanted, given what is left of the file.
using Appetite = std::function<uint64_t(const Want& want, uint64_t left)>;

inline uint64_t as_suggested(const Want& want, uint64_t) { return want.suggested; }
inline uint64_t as_little_as_possible(const Want& want, uint64_t) { return want.length; }
inline uint64_t everything(const Want&, uint64_t left) { return left; }

// `read` is called until it wants nothing more; missing files are reported as missing. Gives up (as a failure that
// reads "endless") where a reader wants something without end. `files_out` receives the FileSet's final state.
template <class Read>
auto drive(const Files& files, const std::string& root, Read read, Appetite appetite = as_suggested,
           size_t* calls = nullptr) {
  FileSet set(root);
  for (size_t n = 1;; ++n) {
    if (calls != nullptr) *calls = n;
    auto result = read(set);
    if (result.status().code() != Code::kNeedBytes) return result;
    const Want want = set.want();
    const auto found = files.find(want.file);
    if (n > 2'000'000) return decltype(result)(Status(Code::kMalformed, "endless"));
    if (found == files.end()) {
      set.set_missing(want.file);
      continue;
    }
    const std::vector<uint8_t>& bytes = found->second;
    set.set_size(want.file, bytes.size());
    if (want.length == 0) continue;
    const uint64_t length = appetite(want, bytes.size() - want.offset);
    Result<MutableBytes> room = set.feed(want.file, want.offset, length);
    if (!room.ok()) return decltype(result)(room.status());
    std::copy_n(bytes.begin() + want.offset, length, room.value().begin());
  }
}

}  // namespace id2vec

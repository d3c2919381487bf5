// The folder of real model files that stands beside a checkout and is absent from a public clone.
//
//   TEST(Gguf, ReadsStories) {
//     ID2VEC_NEED_CORPUS();
//     const std::vector<uint8_t> bytes = corpus_file("gguf/stories260K.gguf");
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace id2vec {

inline std::filesystem::path corpus_folder() {
  if (const char* folder = std::getenv("ID2VEC_CORPUS")) return folder;
  return std::filesystem::path(ID2VEC_ROOT) / ".." / "shared" / "corpus";
}

inline bool has_corpus() { return std::filesystem::exists(corpus_folder()); }

// The bytes of a file; records a failure and returns nothing where it cannot be read.
inline std::vector<uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    ADD_FAILURE() << "cannot read " << path;
    return {};
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::vector<uint8_t> corpus_file(std::string_view name) { return read_file(corpus_folder() / name); }

}  // namespace id2vec

// Leaves the test as skipped, with a line that says so, where the corpus is absent.
#define ID2VEC_NEED_CORPUS() \
  if (!::id2vec::has_corpus()) GTEST_SKIP() << "no corpus beside the checkout"

// GGUF headers; every split is the same file again.
#include "containers/gguf.h"
#include "fuzz/fuzz_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace id2vec;
  return fuzz::fuzz_directory(data, size, [](FileSet& files) { return read_gguf(files, files.root()); });
}

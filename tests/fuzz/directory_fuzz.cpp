// Whatever the content is taken for, config.json and indexes of shards included (they are the same file again).
#include "containers/reader.h"
#include "fuzz/fuzz_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace id2vec;
  return fuzz::fuzz_directory(data, size, [](FileSet& files) { return read_directory(files); });
}

// npz archives, deflated entries among them.
#include "containers/npy.h"
#include "fuzz/fuzz_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace id2vec;
  return fuzz::fuzz_directory(data, size, [](FileSet& files) { return read_npz(files, files.root()); });
}

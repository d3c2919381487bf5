// ONNX models; external data lies in the same file.
#include "containers/onnx.h"
#include "fuzz/fuzz_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace id2vec;
  return fuzz::fuzz_directory(data, size, [](FileSet& files) { return read_onnx(files, files.root()); });
}

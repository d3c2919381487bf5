// The pickle machine and the naming of tensors, on bare pickles.
#include "containers/pickle.h"
#include "containers/pickle_flatten.h"
#include "fuzz/fuzz_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace id2vec;
  fuzz::MemoryMeter::install();
  const fuzz::MemoryMeter meter;
  {
    const Result<Pickle> pickle = read_pickle("pickle", Bytes(data, size));
    if (pickle.ok()) {
      fuzz::require(pickle.value().bytes <= size, "a pickle ends within its bytes");
      for (const PickleValue& value : pickle.value().values) {
        for (const PickleRef item : value.items) {
          fuzz::require(item < pickle.value().values.size(), "values refer to values");
        }
      }
      const Result<std::vector<NamedCall>> tensors = flatten_tensors("pickle", pickle.value());
      if (tensors.ok()) {
        for (const NamedCall& named : tensors.value()) {
          fuzz::require(named.call < pickle.value().values.size(), "names refer to values");
        }
      }
    } else {
      fuzz::require(!pickle.status().message().empty(), "an error has a sentence");
    }
  }
  meter.check(size);
  return 0;
}

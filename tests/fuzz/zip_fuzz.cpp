// Central directories, and the local headers of every entry.
#include "containers/zip.h"
#include "fuzz/fuzz_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace id2vec;
  fuzz::MemoryMeter::install();
  const fuzz::MemoryMeter meter;
  {
    fuzz::Driver driver(Bytes(data, size));
    const std::string root = driver.files().root();
    const auto entries = driver.run([&](FileSet& files) { return read_zip(files, root); });
    uint64_t end = 0;
    for (size_t i = 0; entries.ok() && i < entries.value().size(); ++i) {
      const ZipEntry& entry = entries.value()[i];
      fuzz::require(entry.header_offset >= end, "entries lie one behind the other");
      end = entry.end_limit;
      const auto offset = driver.run([&](FileSet& files) { return zip_data_offset(files, root, entry); });
      if (!offset.ok()) continue;
      fuzz::require(offset.value() + entry.compressed <= entry.end_limit,
                    "an entry's data ends before the next entry");
    }
  }
  meter.check(size);
  return 0;
}

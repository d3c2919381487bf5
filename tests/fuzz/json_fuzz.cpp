// The JSON reader: any sequence of its calls on any text ends, and what it accepts is UTF-8.
#include "containers/json.h"
#include "core/text.h"
#include "fuzz/fuzz_directory.h"

namespace {

// Reads every value by the call for its kind, to the end of the text. Nothing here recurses: the reader keeps the
// levels.
void read_everything(id2vec::JsonReader& json) {
  using Kind = id2vec::JsonReader::Kind;
  std::vector<bool> objects;
  std::string key;
  do {
    switch (json.peek()) {
      case Kind::kObject:
        json.enter_object();
        objects.push_back(true);
        break;
      case Kind::kArray:
        json.enter_array();
        objects.push_back(false);
        break;
      case Kind::kString:
        id2vec::fuzz::require(id2vec::valid_utf8(json.read_string()), "strings are UTF-8");
        break;
      case Kind::kNumber: json.read_number(); break;
      case Kind::kBool: json.read_bool(); break;
      case Kind::kNull: json.read_null(); break;
      case Kind::kNone: json.skip_value(); break;
    }
    while (!objects.empty() && !(objects.back() ? json.next_key(key) : json.next_element()))
      objects.pop_back();
  } while (!objects.empty() && json.ok());
  json.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace id2vec;
  fuzz::MemoryMeter::install();
  const fuzz::MemoryMeter meter;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  {
    JsonReader skipped(text), read(text);
    skipped.skip_value();
    skipped.finish();
    read_everything(read);
    fuzz::require(skipped.ok() == read.ok(), "skipping and reading agree about what is JSON");
    if (!read.ok()) fuzz::require(!read.status("text").message().empty(), "an error has a sentence");
  }
  meter.check(size);
  return 0;
}

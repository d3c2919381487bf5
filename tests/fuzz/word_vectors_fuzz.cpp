// Word vectors in chunks: however the input is cut, the same rows or the same refusal come out.
#include "fuzz/fuzz_directory.h"
#include "tools/word_vectors.h"

namespace {

using namespace id2vec;

struct Outcome {
  Code code = Code::kOk;
  std::string text;
  std::vector<float> rows;
  uint64_t size = 0;
};

Outcome read(Bytes input, size_t chunk) {
  WordVectors words;
  Outcome outcome;
  Status status;
  const auto take = [&] {
    outcome.rows.insert(outcome.rows.end(), words.rows().begin(), words.rows().end());
    words.drop_rows();
  };
  for (size_t at = 0; at < input.size() && status.ok(); at += chunk) {
    status = words.feed(input.subspan(at, std::min(chunk, input.size() - at)));
    if (status.ok()) take();
  }
  if (status.ok()) status = words.finish();
  if (status.ok()) take();
  fuzz::require(status.ok() || !status.message().empty(), "an error has a sentence");
  if (!status.ok()) return {.code = status.code(), .text = {}, .rows = {}, .size = 0};
  fuzz::require(outcome.rows.size() == words.size() * words.dim(), "every row has d numbers");
  fuzz::require(words.starts().size() == words.size() + 1, "every token has a start");
  outcome.text = words.text();
  outcome.size = words.size();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::MemoryMeter::install();
  const fuzz::MemoryMeter meter;
  {
    const Outcome whole = read(Bytes(data, size), std::max<size_t>(size, 1));
    const Outcome pieces = read(Bytes(data, size), 1 + size % 13);
    fuzz::require(whole.code == pieces.code, "chunks do not change the outcome");
    fuzz::require(whole.text == pieces.text && whole.size == pieces.size, "chunks do not change tokens");
    fuzz::require(whole.rows.size() == pieces.rows.size() &&
                      (whole.rows.empty() || std::memcmp(whole.rows.data(), pieces.rows.data(),
                                                         whole.rows.size() * sizeof(float)) == 0),
                  "chunks do not change rows");
  }
  meter.check(size);
  return 0;
}

// A whole small file: open, load, look rows up, score, rank. Every instruction set must agree on rows bit for bit.
#include <bit>

#include "fuzz/fuzz_directory.h"
#include "support/load_table.h"

namespace {

using namespace id2vec;

constexpr uint32_t kMostCols = 1 << 16;

std::vector<float> rows_of(const Table& table, std::span<const uint32_t> ids) {
  std::vector<float> rows(ids.size() * table.spec().cols, 7.0f);
  fuzz::require(table.lookup(ids, rows).ok(), "ids within the table can be looked up");
  return rows;
}

void compare(std::span<const float> rows, std::span<const float> reference) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool same = std::bit_cast<uint32_t>(rows[i]) == std::bit_cast<uint32_t>(reference[i]);
    fuzz::require(same || (rows[i] != rows[i] && reference[i] != reference[i]),
                  "instruction sets agree on rows");
  }
}

void use(const Table& table, std::vector<float>& reference) {
  const uint64_t count = table.spec().rows;
  const uint32_t cols = table.spec().cols;
  std::vector<float> out(1);
  const uint32_t beyond = static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
  fuzz::require(!table.lookup(std::span(&beyond, 1), std::span(out).first(0)).ok(),
                "ids past the table are refused");
  if (count == 0 || cols == 0 || cols > kMostCols) return;
  const uint32_t last = beyond - 1;
  const uint32_t ids[] = {0, last / 2, last};
  const std::vector<float> rows = rows_of(table, ids);
  if (reference.empty()) reference = rows;
  compare(rows, reference);

  std::vector<float> hidden(cols);
  for (uint32_t i = 0; i < cols; ++i) hidden[i] = static_cast<float>(static_cast<int>(i % 7) - 3) * 0.25f;
  std::vector<float> scores(3), values(2);
  std::vector<int32_t> indices(2);
  for (const Precision precision : {Precision::kHigh, Precision::kFast}) {
    fuzz::require(table.logits(hidden, precision, {.only = ids}, scores).ok(), "candidates can be scored");
    fuzz::require(table.top_k(hidden, 2, precision, {}, {values.data(), indices.data()}).ok(),
                  "rows can be ranked");
    for (const int32_t index : indices) {
      fuzz::require(index >= -1 && index < static_cast<int64_t>(count), "winners are rows");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::MemoryMeter::install();
  const fuzz::MemoryMeter meter;
  {
    fuzz::Driver driver(Bytes(data, size));
    const Result<ModelPlan> plan = driver.run([](FileSet& files) { return open_model(files, {}); });
    if (plan.ok()) {
      for (const Role& role : plan.value().roles) {
        if (role.source.spec.dtype->format < 0) continue;
        std::vector<float> reference;
        for (const KernelTable* kernels : kernel_tables()) {
          const auto table = test::load_table(plan.value(), role.source, *kernels,
                                              [&](const std::string& file) { return driver.bytes(file); });
          if (table.ok()) use(*table.value(), reference);
        }
      }
    } else {
      fuzz::require(!plan.status().message().empty(), "an error has a sentence");
    }
  }
  meter.check(size);
  return 0;
}

#include "kernels/tables.h"

namespace id2vec {
namespace {

constexpr const KernelTable* kTables[] = {&kScalarKernels};

}  // namespace

KernelTables kernel_tables() {
  return {std::begin(kTables), std::end(kTables)};
}

const KernelTable* kernel_table(std::string_view isa) {
  if (isa == "auto") return *(std::end(kTables) - 1);
  for (const KernelTable* table : kTables) {
    if (table->isa == isa) return table;
  }
  return nullptr;
}

}  // namespace id2vec

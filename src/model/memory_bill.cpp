#include "model/memory_bill.h"

#include "core/bytes.h"
#include "core/text.h"

namespace id2vec {
namespace {

Status too_large(const BillInput& input) {
  return fail(Code::kLimit, "A table of ", input.rows, " rows of ", input.cols,
              " weights has more bytes than 64 bits count.");
}

Result<std::vector<FormatCost>> format_costs(const BillInput& input) {
  std::vector<FormatCost> costs;
  for (const Dtype& dtype : dtypes()) {
    // A planar format has its scales in arrays of their own, whose size depends on the group that the file chose.
    if (dtype.format < 0 || dtype.planar || input.cols % dtype.block_size != 0) continue;
    const auto row = checked_mul(input.cols / dtype.block_size, dtype.block_bytes);
    const auto all = row ? checked_mul(*row, input.rows) : row;
    if (!all) return too_large(input);
    costs.push_back({dtype.name, *all});
  }
  return costs;
}

std::vector<FactorCost> factor_costs(const BillInput& input, const MemoryBill& bill) {
  std::vector<FactorCost> costs;
  for (uint64_t divisor : {2, 4, 8}) {
    const uint64_t rank = input.cols / divisor;
    if (rank == 0 || rank >= bill.break_even_rank) continue;
    const uint64_t parameters = rank * (input.rows + input.cols);
    costs.push_back(
        {rank, parameters,
         static_cast<uint64_t>(bill.bits_per_weight / 8 * static_cast<double>(parameters) + 0.5)});
  }
  return costs;
}

}  // namespace

Result<MemoryBill> memory_bill(const BillInput& input) {
  const auto parameters = checked_mul(input.rows, input.cols);
  const auto sum = checked_add(input.rows, input.cols);
  const auto bytes = checked_add(input.table_bytes, input.head_bytes);
  if (!parameters || !sum || !bytes) return too_large(input);
  if (*parameters == 0)
    return fail(Code::kInvalidArgument, "A table without rows or columns has no memory bill.");
  MemoryBill bill;
  bill.parameters = *parameters;
  bill.bytes = *bytes;
  bill.bits_per_weight = static_cast<double>(input.table_bytes) * 8 / static_cast<double>(*parameters);
  bill.share_of_file =
      input.file_bytes > 0 ? static_cast<double>(*bytes) / static_cast<double>(input.file_bytes) : 0;
  bill.saved_by_tying = input.head_bytes > 0 ? input.head_bytes : input.table_bytes;
  bill.break_even_rank = *parameters / *sum + (*parameters % *sum != 0);
  ID2VEC_ASSIGN(bill.formats, format_costs(input));
  bill.factorized = factor_costs(input, bill);
  return bill;
}

}  // namespace id2vec

// Headers, tables and memory under names and types that cross the border. bindings/ is the one folder of C++ that knows
// JavaScript exists: what every module exports stands here and in stages.cpp and origin.cpp; what a common module has only
// once it is whole (common/extra.cpp), in geometry.cpp and training.cpp; what only the full modules export (see
// cmake/wasm.cmake), in full/. How things cross: border.h.
#include <wasm_simd128.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "answer.h"
#include "border.h"
#include "calls.h"
#include "containers/directory.h"
#include "describe.h"
#include "formats/catalog.h"
#include "kernels/kernels.h"
#include "model/memory_bill.h"
#include "opener.h"
#include "stages.h"
#include "table/table.h"

namespace id2vec {

Result<std::unique_ptr<Table>> allocate_table(const TableSpec& spec, const std::string& isa) {
  const KernelTable* kernels = kernel_table(isa);
  if (kernels == nullptr) {
    return Status(Code::kUnsupported,
                  "this module has no kernels for the instruction set that was asked for");
  }
  if (spec.dtype == nullptr) return Status(Code::kUnsupported, "there is no table format of that name");
  return Table::allocate(spec, *kernels);
}

namespace {

std::string_view error_code() { return code_name(last_failure.code()); }
std::string_view error_message() { return last_failure.message(); }

std::unique_ptr<Opener> make_opener(const std::string& root, const std::string& tensor,
                                    const std::string& head) {
  return std::make_unique<Opener>(root, tensor, head);
}

// Tables -----------------------------------------------------------------------------------------------------

// A table whose bytes are still to be written; `affine` is null for formats without scales of their own.
Result<std::unique_ptr<Table>> make_table(const std::string& dtype, uint64_t rows, uint32_t cols,
                                          const AffineCall* affine, const std::string& isa) {
  TableSpec spec{dtype_by_name(dtype), rows, cols, {}};
  if (affine != nullptr) {
    spec.affine = {.group_size = affine->group_size,
                   .scale_type = static_cast<ScaleType>(int{affine->scale_type}),
                   .offsets = static_cast<Offsets>(int{affine->offsets}),
                   .is_signed = affine->is_signed,
                   .per_tensor = affine->per_tensor,
                   .zero_point = affine->zero_point,
                   .scale_factor = affine->scale_factor};
  }
  return allocate_table(spec, isa);
}

// Where its bytes lie; 0 bytes where its format has no such plane.
uint8_t* plane_address(Table& table, unsigned plane) { return table.plane(plane).data(); }
size_t plane_bytes(Table& table, unsigned plane) { return table.plane(plane).size(); }

Answer table_spec(const Table& table) { return Answer::of(table.spec()); }

std::string_view table_isa(const Table& table) { return table.kernels().isa; }

// out: float [count, d].
Status table_lookup(const Table& table, uintptr_t ids, size_t count, uintptr_t out) {
  return table.lookup({at<const uint32_t>(ids), count}, {at<float>(out), count * table.spec().cols});
}

struct Call {
  std::span<const float> hidden;
  Precision precision;
  Candidates candidates;
};

// `only` of 0 means that all ids below `limit` compete.
Call call_of(const Table& table, uintptr_t hidden, size_t count, bool fast, uintptr_t only, size_t n_only,
             double limit) {
  Call call{
      {at<const float>(hidden), count * table.spec().cols}, fast ? Precision::kFast : Precision::kHigh, {}};
  if (only != 0) call.candidates.only = {at<const uint32_t>(only), n_only};
  if (limit >= 0) call.candidates.limit = static_cast<uint64_t>(limit);
  return call;
}

// out: float [count, V], or [count, n_only].
Status table_logits(const Table& table, uintptr_t hidden, size_t count, bool fast, uintptr_t only,
                    size_t n_only, double limit, uintptr_t out) {
  const Call call = call_of(table, hidden, count, fast, only, n_only, limit);
  const size_t width = only != 0 ? n_only : table.spec().rows;
  return table.logits(call.hidden, call.precision, call.candidates, {at<float>(out), count * width});
}

// values: float [count, k]; indices: int32 [count, k].
Status table_top_k(const Table& table, uintptr_t hidden, size_t count, size_t k, bool fast, uintptr_t only,
                   size_t n_only, double limit, uintptr_t values, uintptr_t indices) {
  const Call call = call_of(table, hidden, count, fast, only, n_only, limit);
  const TopK out{at<float>(values), at<int32_t>(indices)};
  return table.top_k(call.hidden, k, call.precision, call.candidates, out);
}

// What tables take -------------------------------------------------------------------------------------------

Result<Answer> bill(uint64_t rows, uint64_t cols, uint64_t table_bytes, uint64_t head_bytes,
                    uint64_t file_bytes) {
  ID2VEC_ASSIGN(const MemoryBill bill, memory_bill({rows, cols, table_bytes, head_bytes, file_bytes}));
  return Answer::of(bill);
}

// Memory -----------------------------------------------------------------------------------------------------

// Null where there is no more.
void* allocate(size_t bytes) { return std::malloc(bytes); }
void release(void* memory) { std::free(memory); }

// Index of the first byte in which two ranges differ; `count` if they are equal.
size_t first_difference(const uint8_t* a, const uint8_t* b, size_t count) {
  constexpr size_t kStep = 4096;  // memcmp finds the step, a loop the byte
  size_t i = 0;
  while (count - i >= kStep && std::memcmp(a + i, b + i, kStep) == 0) i += kStep;
  while (i < count && a[i] == b[i]) i++;
  return i;
}

void copy(uint8_t* to, const uint8_t* from, size_t count) { std::memcpy(to, from, count); }

Answer isas() {
  Answer names;
  names.put_list(kernel_tables(), [&](const KernelTable* kernels) { names.put(kernels->isa); });
  return names;
}

// The relaxed dot product of int8 with int7 lanes, run once: some engines accept the instruction and compute
// something else. The volatile keeps the compiler from computing it instead.
bool relaxed_dot_is_right() {
#ifdef __wasm_relaxed_simd__
  volatile int8_t three = 3;
  const v128_t threes = wasm_i8x16_splat(three);
  const v128_t dots = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(threes, threes, wasm_i32x4_splat(0));
  return wasm_i32x4_extract_lane(dots, 0) == 4 * 3 * 3;
#else
  return false;
#endif
}

// Of every format: its name, and how many weights and bytes a block has.
Answer formats() {
  Answer list;
  list.put_list(dtypes(), [&](const Dtype& dtype) {
    if (dtype.format < 0) return;
    list.put_object("name", dtype.name, "blockSize", dtype.block_size, "blockBytes", dtype.block_bytes);
  });
  return list;
}

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec) {
  bind<&error_code>("errorCode");
  bind<&error_message>("errorMessage");
  bind<&allocate>("allocate");
  bind<&release>("release");
  bind<&copy>("copy");
  bind<&first_difference>("firstDifference");
  bind<&isas>("isas");
  bind<&relaxed_dot_is_right>("relaxedDotIsRight");
  bind<&formats>("formats");
  bind<&bill>("memoryBill");

  bind<&make_opener>("makeOpener");
  bind<&destroy<Opener>>("deleteOpener");
  bind<&Opener::open_model>("openModel");
  bind<&Opener::read_directory>("readDirectory");
  bind<&Opener::want>("want");
  bind<&Opener::deflated>("deflated");
  bind<&Opener::set_size>("setSize");
  bind<&Opener::set_missing>("setMissing");
  bind<&Opener::feed>("feed");
  bind<&Opener::drop_bytes>("dropBytes");
  bind<&Opener::directory>("directory");
  bind<&Opener::plan>("plan");
  bind<&Opener::allocate>("allocateRole");
  bind<&Opener::convert>("convert");
  bind<&Opener::already_there>("alreadyThere");
  bind<&Opener::override_number>("overrideNumber");
  bind<&Opener::override_text>("overrideText");
  bind<&Opener::stages>("makeStages");
  bind<&Opener::take_origin>("takeOrigin");

  bind<&make_table>("makeTable");
  bind<&destroy<Table>>("deleteTable");
  bind<&plane_address>("planeAddress");
  bind<&plane_bytes>("planeBytes");
  bind<&table_spec>("tableSpec");
  bind<&table_isa>("tableIsa");
  bind<&table_lookup>("lookup");
  bind<&table_logits>("logits");
  bind<&table_top_k>("topK");
}

}  // namespace id2vec

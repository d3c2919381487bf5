// Headers, tables and memory under names and types that cross the border. bindings/ is the one folder of C++ that knows
// JavaScript exists: what every module exports stands here and in stages.cpp and training.cpp; what only the full
// modules export (see cmake/wasm.cmake), in full/.
//
//   numbers   sizes and file offsets arrive as doubles (exact up to 2^53), heap addresses as 32-bit integers
//   arrays    never cross: the caller writes them into memory it got from `allocate` and passes address and count
//   failures  never throw: a function returns a code (0 is success); `errorCode`, `errorMessage` say more of the last
//   objects   Opener, Table and Origin are handles; JavaScript calls delete() when it is done with one
#include <emscripten/bind.h>
#include <emscripten/val.h>
#include <wasm_simd128.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "border.h"
#include "containers/directory.h"
#include "formats/catalog.h"
#include "kernels/kernels.h"
#include "model/memory_bill.h"
#include "opener.h"
#include "stages.h"
#include "table/table.h"
#include "to_js.h"

namespace id2vec {
std::unique_ptr<Table> allocate_table(const TableSpec& spec, const std::string& isa) {
  const KernelTable* kernels = kernel_table(isa);
  if (kernels == nullptr) {
    report(
        Status(Code::kUnsupported, "this module has no kernels for the instruction set that was asked for"));
    return nullptr;
  }
  if (spec.dtype == nullptr) {
    report(Status(Code::kUnsupported, "there is no table format of that name"));
    return nullptr;
  }
  Result<std::unique_ptr<Table>> table = Table::allocate(spec, *kernels);
  if (report(table.status()) != 0) return nullptr;
  return std::move(table.value());
}

namespace {

using emscripten::val;

std::string error_code() { return std::string(code_name(last_failure.code())); }
std::string error_message() { return last_failure.message(); }

// Tables -----------------------------------------------------------------------------------------------------

// A table whose bytes are still to be written; null on failure.
std::unique_ptr<Table> make_table(const val& spec, double rows, const std::string& isa) {
  return allocate_table(spec_from_js(spec, static_cast<uint64_t>(rows)), isa);
}

val table_planes(Table& table) {
  val planes = val::array();
  for (size_t i = 0; i < table.view().planes.size(); i++) {
    const MutableBytes bytes = table.plane(i);
    val plane = val::object();
    plane.set("address", reinterpret_cast<uintptr_t>(bytes.data()));
    plane.set("bytes", number(bytes.size()));
    planes.set(i, plane);
  }
  return planes;
}

val table_spec(const Table& table) { return spec_to_js(table.spec()); }

std::string table_isa(const Table& table) { return std::string(table.kernels().isa); }

// out: float [count, d].
int table_lookup(const Table& table, uintptr_t ids, size_t count, uintptr_t out) {
  return report(table.lookup({at<const uint32_t>(ids), count}, {at<float>(out), count * table.spec().cols}));
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
int table_logits(const Table& table, uintptr_t hidden, size_t count, bool fast, uintptr_t only, size_t n_only,
                 double limit, uintptr_t out) {
  const Call call = call_of(table, hidden, count, fast, only, n_only, limit);
  const size_t width = only != 0 ? n_only : table.spec().rows;
  return report(table.logits(call.hidden, call.precision, call.candidates, {at<float>(out), count * width}));
}

// values: float [count, k]; indices: int32 [count, k].
int table_top_k(const Table& table, uintptr_t hidden, size_t count, size_t k, bool fast, uintptr_t only,
                size_t n_only, double limit, uintptr_t values, uintptr_t indices) {
  const Call call = call_of(table, hidden, count, fast, only, n_only, limit);
  const TopK out{at<float>(values), at<int32_t>(indices)};
  return report(table.top_k(call.hidden, k, call.precision, call.candidates, out));
}

// What tables take -------------------------------------------------------------------------------------------

// null on failure.
val memory_bill_to_js(double rows, double cols, double table_bytes, double head_bytes, double file_bytes) {
  const Result<MemoryBill> bill = memory_bill(
      {static_cast<uint64_t>(rows), static_cast<uint64_t>(cols), static_cast<uint64_t>(table_bytes),
       static_cast<uint64_t>(head_bytes), static_cast<uint64_t>(file_bytes)});
  if (report(bill.status()) != 0) return val::null();
  val object = val::object();
  object.set("parameters", number(bill.value().parameters));
  object.set("bytes", number(bill.value().bytes));
  object.set("bitsPerWeight", bill.value().bits_per_weight);
  object.set("shareOfFile", bill.value().share_of_file);
  object.set("savedByTying", number(bill.value().saved_by_tying));
  object.set("formats", array_of(bill.value().formats, [](const FormatCost& cost) {
               val item = val::object();
               item.set("format", text(cost.format));
               item.set("bytes", number(cost.bytes));
               return item;
             }));
  object.set("factorized", array_of(bill.value().factorized, [](const FactorCost& cost) {
               val item = val::object();
               item.set("rank", number(cost.rank));
               item.set("parameters", number(cost.parameters));
               item.set("bytes", number(cost.bytes));
               return item;
             }));
  object.set("breakEvenRank", number(bill.value().break_even_rank));
  return object;
}

// Memory -----------------------------------------------------------------------------------------------------

// 0 where there is no more.
uintptr_t allocate(size_t bytes) { return reinterpret_cast<uintptr_t>(std::malloc(bytes)); }
void release(uintptr_t address) { std::free(at<void>(address)); }

// Index of the first byte in which two ranges differ; `count` if they are equal.
size_t first_difference(uintptr_t left, uintptr_t right, size_t count) {
  const uint8_t* a = at<const uint8_t>(left);
  const uint8_t* b = at<const uint8_t>(right);
  constexpr size_t kStep = 4096;  // memcmp finds the step, a loop the byte
  size_t i = 0;
  while (count - i >= kStep && std::memcmp(a + i, b + i, kStep) == 0) i += kStep;
  while (i < count && a[i] == b[i]) i++;
  return i;
}

void copy(uintptr_t to, uintptr_t from, size_t count) {
  std::memcpy(at<void>(to), at<const void>(from), count);
}

val isas() {
  val names = val::array();
  unsigned i = 0;
  for (const KernelTable* kernels : kernel_tables()) names.set(i++, text(kernels->isa));
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

val formats() {
  val list = val::array();
  unsigned i = 0;
  for (const Dtype& dtype : dtypes()) {
    if (dtype.format < 0) continue;
    val object = val::object();
    object.set("name", text(dtype.name));
    object.set("blockSize", dtype.block_size);
    object.set("blockBytes", dtype.block_bytes);
    list.set(i++, object);
  }
  return list;
}

}  // namespace

EMSCRIPTEN_BINDINGS(id2vec) {
  using emscripten::class_;
  using emscripten::function;

  function("errorCode", &error_code);
  function("errorMessage", &error_message);
  function("allocate", &allocate);
  function("release", &release);
  function("copy", &copy);
  function("firstDifference", &first_difference);
  function("isas", &isas);
  function("relaxedDotIsRight", &relaxed_dot_is_right);
  function("formats", &formats);
  function("makeTable", &make_table);
  function("memoryBill", &memory_bill_to_js);

  class_<Opener>("Opener")
      .constructor<std::string, std::string, std::string>()
      .function("openModel", &Opener::open_model)
      .function("readDirectory", &Opener::read_directory)
      .function("want", &Opener::want)
      .function("deflated", &Opener::deflated)
      .function("setSize", &Opener::set_size)
      .function("setMissing", &Opener::set_missing)
      .function("feed", &Opener::feed)
      .function("dropBytes", &Opener::drop_bytes)
      .function("directory", &Opener::directory)
      .function("plan", &Opener::plan)
      .function("allocate", &Opener::allocate)
      .function("convert", &Opener::convert)
      .function("alreadyThere", &Opener::already_there)
      .function("overrideNumber", &Opener::override_number)
      .function("overrideText", &Opener::override_text)
      .function("stages", &Opener::stages)
      .function("takeOrigin", &Opener::take_origin);

  class_<Table>("Table")
      .function("planes", &table_planes)
      .function("spec", &table_spec)
      .function("isa", &table_isa)
      .function("lookup", &table_lookup)
      .function("logits", &table_logits)
      .function("topK", &table_top_k);
}

}  // namespace id2vec

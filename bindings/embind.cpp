// The one C++ file that knows JavaScript exists: the core's functions under names and types that cross the border.
//
//   numbers   sizes and file offsets arrive as doubles (exact up to 2^53), heap addresses as 32-bit integers
//   arrays    never cross: the caller writes them into memory it got from `allocate` and passes address and count
//   failures  never throw: a function returns a code (0 is success); `errorCode`, `errorMessage` say more of the last
//   objects   Opener, Table and Vocabulary are handles; JavaScript calls delete() when it is done with one
#include <emscripten/bind.h>
#include <emscripten/val.h>
#include <wasm_simd128.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "border.h"
#include "containers/directory.h"
#include "containers/file_set.h"
#include "containers/reader.h"
#include "formats/catalog.h"
#include "kernels/kernels.h"
#include "model/architectures.h"
#include "model/memory_bill.h"
#include "model/model.h"
#include "stages.h"
#include "table/table.h"
#include "tools/export.h"
#include "tools/quantize.h"

namespace id2vec {
namespace {

using emscripten::val;

std::string error_code() { return std::string(code_name(last_failure.code())); }
std::string error_message() { return last_failure.message(); }

// Plain objects for JavaScript -------------------------------------------------------------------------------

val text(std::string_view value) { return val(std::string(value)); }
val number(uint64_t value) { return val(static_cast<double>(value)); }

template <class List, class Convert>
val array_of(const List& list, Convert convert) {
  val array = val::array();
  unsigned i = 0;
  for (const auto& item : list) array.set(i++, convert(item));
  return array;
}

struct MetadataToJs {
  val operator()(bool value) const { return val(value); }
  val operator()(int64_t value) const { return val(static_cast<double>(value)); }
  val operator()(uint64_t value) const { return number(value); }
  val operator()(double value) const { return val(value); }
  // An array that was not kept: { length } alone.
  val operator()(const ArrayLength& value) const {
    val object = val::object();
    object.set("length", number(value.length));
    return object;
  }
  val operator()(const std::string& value) const { return val(value); }
  val operator()(const std::vector<double>& value) const {
    return array_of(value, [](double item) { return val(item); });
  }
  val operator()(const std::vector<std::string>& value) const {
    return array_of(value, [](const std::string& item) { return val(item); });
  }
};

val tensor_to_js(const Tensor& tensor, const Directory& directory) {
  val object = val::object();
  object.set("name", tensor.name);
  object.set("dtype", text(tensor.dtype->name));
  object.set("shape", array_of(tensor.shape, number));
  object.set("file", tensor.file < directory.files.size() ? val(directory.files[tensor.file]) : val::null());
  object.set("offset", number(tensor.offset));
  object.set("bytes", number(tensor.bytes));
  return object;
}

// Metadata goes as [key, value] pairs: a key may be "__proto__".
val directory_to_js(const Directory& directory) {
  val object = val::object();
  object.set("container", text(directory.container));
  object.set("files", array_of(directory.files, text));
  object.set("tensors",
             array_of(directory.tensors, [&](const Tensor& t) { return tensor_to_js(t, directory); }));
  object.set("skipped", array_of(directory.skipped, text));
  object.set("metadata", array_of(directory.metadata, [](const auto& entry) {
               val pair = val::array();
               pair.set(0, entry.first);
               pair.set(1, std::visit(MetadataToJs{}, entry.second));
               return pair;
             }));
  return object;
}

val segment_to_js(const Segment& segment) {
  val object = val::object();
  object.set("file", segment.file);
  object.set("offset", number(segment.offset));
  object.set("bytes", number(segment.bytes));
  object.set("plane", segment.plane);
  object.set("target", number(segment.target));
  return object;
}

std::string_view conversion_name(Conversion conversion) {
  switch (conversion) {
    case Conversion::kNone: return "none";
    case Conversion::kStrided: return "strided";
  }
  return "none";
}

// What a table is, but for its rows: a plain object that may be sent to another thread.
val spec_to_js(const TableSpec& spec) {
  val object = val::object();
  object.set("dtype", text(spec.dtype->name));
  object.set("cols", spec.cols);
  object.set("groupSize", spec.affine.group_size);
  object.set("scaleType", static_cast<int>(spec.affine.scale_type));
  object.set("offsets", static_cast<int>(spec.affine.offsets));
  object.set("isSigned", spec.affine.is_signed);
  object.set("perTensor", spec.affine.per_tensor);
  object.set("zeroPoint", spec.affine.zero_point);
  object.set("scaleFactor", spec.affine.scale_factor);
  return object;
}

TableSpec spec_from_js(const val& object, uint64_t rows) {
  TableSpec spec{dtype_by_name(object["dtype"].as<std::string>()), rows, object["cols"].as<uint32_t>(), {}};
  if (!object.hasOwnProperty("groupSize")) return spec;
  spec.affine.group_size = object["groupSize"].as<uint32_t>();
  spec.affine.scale_type = static_cast<ScaleType>(object["scaleType"].as<int>());
  spec.affine.offsets = static_cast<Offsets>(object["offsets"].as<int>());
  spec.affine.is_signed = object["isSigned"].as<bool>();
  spec.affine.per_tensor = object["perTensor"].as<bool>();
  spec.affine.zero_point = object["zeroPoint"].as<int32_t>();
  spec.affine.scale_factor = object["scaleFactor"].as<float>();
  return spec;
}

val role_to_js(const Role& role) {
  const TableSource& source = role.source;
  val object = val::object();
  object.set("role", role.role);
  object.set("name", source.name);
  object.set("dtype", text(source.spec.dtype->name));
  object.set("rows", number(source.spec.rows));
  object.set("cols", source.spec.cols);
  object.set("spec", spec_to_js(source.spec));
  object.set("conversion", text(conversion_name(source.conversion)));
  object.set("bytes", number(source.bytes()));
  uint64_t inline_bytes = 0;
  for (const InlineRun& run : source.inline_runs) inline_bytes += run.bytes.size();
  object.set("inlineBytes", number(inline_bytes));
  object.set("segments", array_of(source.segments, segment_to_js));
  return object;
}

val profile_to_js(const Profile& profile) {
  val object = val::object();
  for (const ProfileEntry& entry : profile_entries(profile)) {
    const std::string key(entry.key);
    if (entry.is_text)
      object.set(key, text(entry.text));
    else if (entry.is_flag)
      object.set(key, entry.number != 0);
    else
      object.set(key, entry.number);
  }
  return object;
}

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

std::string_view tying_name(ModelPlan::Tying tying) {
  switch (tying) {
    case ModelPlan::Tying::kAbsent: return "absent";
    case ModelPlan::Tying::kShared: return "shared";
    case ModelPlan::Tying::kCompare: return "compare";
    case ModelPlan::Tying::kUntied: return "untied";
  }
  return "untied";
}

// Reading headers --------------------------------------------------------------------------------------------

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

// Drives open_model or read_directory: call one of them until it returns something other than need-bytes, handing
// over what `want` says in between.
class Opener {
 public:
  Opener(std::string root, std::string tensor, std::string head)
      : files_(std::move(root)), options_{std::move(tensor), std::move(head)} {}

  int open_model() { return take(id2vec::open_model(files_, options_), plan_); }
  int read_directory() { return take(id2vec::read_directory(files_), plan_.directory); }

  val want() const {
    const Want& want = files_.want();
    val object = val::object();
    object.set("file", want.file);
    object.set("offset", number(want.offset));
    object.set("length", number(want.length));
    object.set("suggested", number(want.suggested));
    object.set("optional", want.optional);
    return object;
  }

  // Where the bytes of a virtual file come from ({archive, offset, bytes, inflated}); null for an ordinary file.
  val deflated(const std::string& file) const {
    const DeflatedRange* range = files_.deflated(file);
    if (range == nullptr) return val::null();
    val object = val::object();
    object.set("archive", range->archive);
    object.set("offset", number(range->offset));
    object.set("bytes", number(range->bytes));
    object.set("inflated", number(range->inflated));
    return object;
  }

  void set_size(const std::string& file, double size) { files_.set_size(file, static_cast<uint64_t>(size)); }
  void set_missing(const std::string& file) { files_.set_missing(file); }

  // Address of `length` bytes to be filled before the next call on this object; 0 on failure.
  uintptr_t feed(const std::string& file, double offset, double length) {
    Result<MutableBytes> room =
        files_.feed(file, static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
    if (report(room.status()) != 0) return 0;
    return reinterpret_cast<uintptr_t>(room.value().data());
  }

  void drop_bytes() { files_.drop_bytes(); }

  const Directory& headers() const { return plan_.directory; }
  val directory() const { return directory_to_js(plan_.directory); }

  val plan() const {
    val object = val::object();
    object.set("roles", array_of(plan_.roles, role_to_js));
    object.set("profile", profile_to_js(plan_.profile));
    object.set("tying", text(tying_name(plan_.tying)));
    object.set("warnings", array_of(plan_.warnings, [](const std::string& item) { return val(item); }));
    return object;
  }

  // The table that roles[index] asks for, its bytes still to be written; null on failure.
  std::unique_ptr<Table> allocate(unsigned index, const std::string& isa) const {
    const TableSource& source = plan_.roles[index].source;
    std::unique_ptr<Table> table = allocate_table(source.spec, isa);
    if (table != nullptr) write_inline(source, *table);
    return table;
  }

  // Where roles[index].conversion is "strided": puts `count` bytes at `address`, which the file has at byte `at` of
  // the role's segment, into their places in its table. Chunks may come in any order.
  void convert(unsigned index, Table& table, double at_byte, uintptr_t address, size_t count) const {
    scatter(plan_.roles[index].source.layout, static_cast<uint64_t>(at_byte),
            {at<const uint8_t>(address), count}, table.plane(0).data());
  }

  // The same bytes compared with what `table` holds at those places.
  bool already_there(unsigned index, Table& table, double at_byte, uintptr_t address, size_t count) const {
    return id2vec::already_there(plan_.roles[index].source.layout, static_cast<uint64_t>(at_byte),
                                 {at<const uint8_t>(address), count}, table.plane(0).data());
  }

  // The caller's word on a value of the profile; another architecture changes them all.
  int override_number(const std::string& key, double value) {
    return report(override_profile(plan_.profile, key, value));
  }
  int override_text(const std::string& key, const std::string& value) {
    if (key == "architecture") use_architecture(value);
    return report(override_profile(plan_.profile, key, std::string_view(value)));
  }

  // What the model does around its tables; both have to outlive it.
  std::unique_ptr<Stages> stages(const Table& embedding, const Table& head) const {
    return std::make_unique<Stages>(plan_.profile, embedding, head);
  }

  // Takes the vocabulary out of the directory; null where the file has none.
  std::unique_ptr<Vocabulary> take_vocabulary() {
    if (plan_.directory.vocabulary.size() == 0) return nullptr;
    return std::make_unique<Vocabulary>(std::exchange(plan_.directory.vocabulary, Vocabulary{}));
  }

 private:
  void use_architecture(std::string_view name) {
    const Role* projection = plan_.find("projection");
    const TableSpec& embedding = plan_.roles[0].source.spec;
    const uint64_t hidden = projection != nullptr ? projection->source.spec.rows : embedding.cols;
    plan_.profile = resolve_profile(plan_.directory, {.hidden = static_cast<uint32_t>(hidden),
                                                      .tied = plan_.tying != ModelPlan::Tying::kUntied,
                                                      .architecture = name});
  }

  template <class T>
  static int take(Result<T> result, T& to) {
    if (result.ok()) to = std::move(result.value());
    return report(result.status());
  }

  FileSet files_;
  OpenOptions options_;
  ModelPlan plan_;
};

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

// Writing files ----------------------------------------------------------------------------------------------

// The same rows in another format; null on failure.
std::unique_ptr<Table> quantize(const Table& table, const std::string& dtype) {
  const Dtype* to = dtype_by_name(dtype);
  if (to == nullptr || to->format < 0) {
    report(Status(Code::kUnsupported, "There is no table format \"" + dtype + "\"."));
    return nullptr;
  }
  Result<std::unique_ptr<Table>> quantized = quantize_table(table, *to);
  if (report(quantized.status()) != 0) return nullptr;
  return std::move(quantized.value());
}

// The format that `dtype` becomes for rows of this width; empty where there is no encoder for it.
std::string encodable(const std::string& dtype, uint32_t cols) {
  const Dtype* wanted = dtype_by_name(dtype);
  const Dtype* possible = wanted == nullptr ? nullptr : encodable_dtype(*wanted, cols);
  return std::string(possible == nullptr ? "" : possible->name);
}

// What the second table lost; null on failure.
val compare(const Table& source, const Table& quantized) {
  const Result<QuantizeReport> compared = compare_tables(source, quantized);
  if (report(compared.status()) != 0) return val::null();
  const QuantizeReport& result = compared.value();
  val object = val::object();
  object.set("sourceBytes", number(result.source_bytes));
  object.set("bytes", number(result.bytes));
  object.set("relativeError", result.relative_error);
  object.set("worstRow", number(result.worst_row));
  object.set("worstRowError", result.worst_row_error);
  object.set("meanCosine", result.mean_cosine);
  object.set("top1Agreement", result.top1_agreement);
  object.set("sampledRows", result.sampled_rows);
  return object;
}

// A file that holds some tables, with the metadata and the vocabulary of the file that they come from.
class Writer {
 public:
  explicit Writer(const Opener& source) {
    source_.metadata = source.headers().metadata;
    source_.vocabulary = source.headers().vocabulary;
  }

  void set_text(std::string key, std::string value) { source_.metadata[std::move(key)] = std::move(value); }
  void set_number(std::string key, double value) {
    if (value == std::floor(value) && std::abs(value) < 0x1p53) {
      source_.metadata[std::move(key)] = static_cast<int64_t>(value);
    } else {
      source_.metadata[std::move(key)] = value;
    }
  }

  // Pieces as in Vocabulary; `scores` and `types` may be 0.
  void set_vocabulary(uintptr_t text, size_t bytes, uintptr_t offsets, size_t count, uintptr_t scores,
                      uintptr_t types) {
    Vocabulary& vocabulary = source_.vocabulary = {};
    vocabulary.text.assign(at<const char>(text), bytes);
    vocabulary.offsets.assign(at<const uint32_t>(offsets), at<const uint32_t>(offsets) + count + 1);
    if (scores != 0) vocabulary.scores.assign(at<const float>(scores), at<const float>(scores) + count);
    if (types != 0) vocabulary.types.assign(at<const int32_t>(types), at<const int32_t>(types) + count);
  }

  // The table must outlive the last call of pieces().
  void add(std::string name, const Table& table, bool is_vector) {
    tables_.push_back({std::move(name), &table, is_vector});
  }

  int finish(bool gguf) {
    Result<Export> made = export_tables(gguf ? Container::kGguf : Container::kSafetensors, source_, tables_);
    if (made.ok()) file_ = std::move(made.value());
    return report(made.status());
  }

  // The file from its first byte to its last: runs of bytes, each after so many zeros.
  val pieces() const {
    val list = val::array();
    unsigned count = 0;
    uint64_t end = 0;
    const auto put = [&](uint64_t offset, Bytes bytes) {
      val piece = val::object();
      piece.set("zeros", number(offset - end));
      piece.set("address", reinterpret_cast<uintptr_t>(bytes.data()));
      piece.set("bytes", number(bytes.size()));
      list.set(count++, piece);
      end = offset + bytes.size();
    };
    put(0, file_.layout.header);
    for (const uint32_t i : file_.layout.order) put(file_.layout.offsets[i], file_.pieces[i]);
    put(file_.layout.bytes, {});
    return list;
  }

 private:
  Directory source_;
  std::vector<NamedTable> tables_;
  Export file_;
};

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
      .function("takeVocabulary", &Opener::take_vocabulary);

  function("quantize", &quantize);
  function("encodable", &encodable);
  function("compare", &compare);

  class_<Writer>("Writer")
      .constructor<const Opener&>()
      .function("setText", &Writer::set_text)
      .function("setNumber", &Writer::set_number)
      .function("setVocabulary", &Writer::set_vocabulary)
      .function("add", &Writer::add)
      .function("finish", &Writer::finish)
      .function("pieces", &Writer::pieces);

  class_<Table>("Table")
      .function("planes", &table_planes)
      .function("isa", &table_isa)
      .function("lookup", &table_lookup)
      .function("logits", &table_logits)
      .function("topK", &table_top_k);

  class_<Vocabulary>("Vocabulary")
      .property(
          "size", +[](const Vocabulary& v) { return v.size(); })
      .property(
          "text", +[](const Vocabulary& v) { return reinterpret_cast<uintptr_t>(v.text.data()); })
      .property(
          "offsets", +[](const Vocabulary& v) { return reinterpret_cast<uintptr_t>(v.offsets.data()); });
}

}  // namespace id2vec

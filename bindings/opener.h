// The headers of one model, as JavaScript reads them: the core's readers, driven from outside, and what they found.
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "border.h"
#include "containers/directory.h"
#include "containers/file_set.h"
#include "containers/reader.h"
#include "model/model.h"
#include "origin.h"
#include "stages.h"
#include "table/table.h"
#include "to_js.h"

namespace id2vec {

// A table whose bytes are still to be written; null on failure.
std::unique_ptr<Table> allocate_table(const TableSpec& spec, const std::string& isa);

// Drives open_model or read_directory: call one of them until it returns something other than need-bytes, handing
// over what `want` says in between.
class Opener {
 public:
  Opener(std::string root, std::string tensor, std::string head)
      : files_(std::move(root)), options_{std::move(tensor), std::move(head)} {}

  int open_model() { return take(id2vec::open_model(files_, options_), plan_); }
  int read_directory() { return take(id2vec::read_directory(files_), plan_.directory); }

  emscripten::val want() const {
    const Want& want = files_.want();
    emscripten::val object = emscripten::val::object();
    object.set("file", want.file);
    object.set("offset", number(want.offset));
    object.set("length", number(want.length));
    object.set("suggested", number(want.suggested));
    object.set("optional", want.optional);
    return object;
  }

  // Where the bytes of a virtual file come from ({archive, offset, bytes, inflated}); null for an ordinary file.
  emscripten::val deflated(const std::string& file) const {
    const DeflatedRange* range = files_.deflated(file);
    if (range == nullptr) return emscripten::val::null();
    emscripten::val object = emscripten::val::object();
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

  emscripten::val directory() const { return directory_to_js(plan_.directory); }
  const Directory& read() const { return plan_.directory; }

  emscripten::val plan() const { return plan_to_js(plan_); }

  // The table that roles[index] asks for, its bytes still to be written; null on failure.
  std::unique_ptr<Table> allocate(unsigned index, const std::string& isa) const {
    const TableSource& source = plan_.roles[index].source;
    std::unique_ptr<Table> table = allocate_table(source.spec, isa);
    if (table != nullptr) write_inline(source, *table);
    return table;
  }

  // Where roles[index].conversion is not "none": puts `count` bytes at `address`, which come at byte `at` of a plane (or
  // of what is stored, where the plane is converted), to their places in its table. Chunks may come in any order.
  void convert(unsigned index, Table& table, unsigned plane, double at_byte, uintptr_t address,
               size_t count) const {
    put_stored(plan_.roles[index].source, plane, static_cast<uint64_t>(at_byte),
               {at<const uint8_t>(address), count}, table);
  }

  // The same bytes compared with what `table` holds at those places.
  bool already_there(unsigned index, Table& table, unsigned plane, double at_byte, uintptr_t address,
                     size_t count) const {
    return holds_stored(plan_.roles[index].source, plane, static_cast<uint64_t>(at_byte),
                        {at<const uint8_t>(address), count}, table);
  }

  // The caller's word on a value of the profile; another architecture changes them all.
  int override_number(const std::string& key, double value) {
    return report(override_profile(plan_.profile, key, value));
  }
  int override_text(const std::string& key, const std::string& value) {
    if (key == "architecture") set_profile(plan_, value);
    return report(override_profile(plan_.profile, key, std::string_view(value)));
  }

  // What the model does around its tables; both have to outlive it.
  std::unique_ptr<Stages> stages(const Table& embedding, const Table& head) const {
    return std::make_unique<Stages>(plan_.profile, embedding, head);
  }

  // Takes metadata and vocabulary out of the directory: nothing here needs them once the plan is made.
  std::unique_ptr<Origin> take_origin() { return std::make_unique<Origin>(std::move(plan_.directory)); }

 private:
  template <class T>
  static int take(Result<T> result, T& to) {
    if (result.ok()) to = std::move(result.value());
    return report(result.status());
  }

  FileSet files_;
  OpenOptions options_;
  ModelPlan plan_;
};

}  // namespace id2vec

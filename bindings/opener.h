// The headers of one model, as JavaScript reads them: the core's readers, driven from outside, and what they found.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "answer.h"
#include "border.h"
#include "containers/directory.h"
#include "containers/file_set.h"
#include "containers/reader.h"
#include "describe.h"
#include "model/model.h"
#include "origin.h"
#include "stages.h"
#include "table/table.h"

namespace id2vec {

// A table whose bytes are still to be written.
Result<std::unique_ptr<Table>> allocate_table(const TableSpec& spec, const std::string& isa);

// Drives open_model or read_directory: call one of them until it returns something other than need-bytes, handing
// over what `want` says in between.
class Opener {
 public:
  Opener(std::string root, std::string tensor, std::string head)
      : files_(std::move(root)), options_{std::move(tensor), std::move(head)} {}

  Status open_model() { return take(id2vec::open_model(files_, options_), plan_); }
  Status read_directory() { return take(id2vec::read_directory(files_), plan_.directory); }

  Answer want() const {
    const Want& want = files_.want();
    return Answer::object("file", want.file, "offset", want.offset, "length", want.length, "suggested",
                          want.suggested, "optional", want.optional);
  }

  // Where the bytes of a virtual file come from; null for an ordinary file.
  Answer deflated(const std::string& file) const {
    const DeflatedRange* range = files_.deflated(file);
    if (range == nullptr) return Answer::of(std::optional<bool>());
    return Answer::object("archive", range->archive, "offset", range->offset, "bytes", range->bytes,
                          "inflated", range->inflated);
  }

  void set_size(const std::string& file, uint64_t size) { files_.set_size(file, size); }
  void set_missing(const std::string& file) { files_.set_missing(file); }

  // Where `length` bytes are to be put before the next call on this object; null on failure.
  Result<uint8_t*> feed(const std::string& file, uint64_t offset, uint64_t length) {
    ID2VEC_ASSIGN(const MutableBytes room, files_.feed(file, offset, length));
    return room.data();
  }

  void drop_bytes() { files_.drop_bytes(); }

  Answer directory() const { return Answer::of(plan_.directory); }
  const Directory& read() const { return plan_.directory; }

  Answer plan() const { return Answer::of(plan_); }

  // The table that roles[index] asks for, its bytes still to be written.
  Result<std::unique_ptr<Table>> allocate(unsigned index, const std::string& isa) const {
    const TableSource& source = plan_.roles[index].source;
    ID2VEC_ASSIGN(std::unique_ptr<Table> table, allocate_table(source.spec, isa));
    write_inline(source, *table);
    return table;
  }

  // Where roles[index].conversion is not "none": puts `count` bytes at `address`, which come at byte `at_byte` of a plane
  // (or of what is stored, where the plane is converted), to their places in its table. Chunks may come in any order.
  void convert(unsigned index, Table& table, unsigned plane, uint64_t at_byte, uintptr_t address,
               size_t count) const {
    put_stored(plan_.roles[index].source, plane, at_byte, {at<const uint8_t>(address), count}, table);
  }

  // The same bytes compared with what `table` holds at those places.
  bool already_there(unsigned index, Table& table, unsigned plane, uint64_t at_byte, uintptr_t address,
                     size_t count) const {
    return holds_stored(plan_.roles[index].source, plane, at_byte, {at<const uint8_t>(address), count},
                        table);
  }

  // The caller's word on a value of the profile; another architecture changes them all.
  Status override_number(const std::string& key, double value) {
    return override_profile(plan_.profile, key, value);
  }
  Status override_text(const std::string& key, const std::string& value) {
    if (key == "architecture") set_profile(plan_, value);
    return override_profile(plan_.profile, key, std::string_view(value));
  }

  // What the model does around its tables; both have to outlive it.
  std::unique_ptr<Stages> stages(const Table& embedding, const Table& head) const {
    return std::make_unique<Stages>(plan_.profile, embedding, head);
  }

  // Takes metadata and vocabulary out of the directory: nothing here needs them once the plan is made.
  std::unique_ptr<Origin> take_origin() { return std::make_unique<Origin>(std::move(plan_.directory)); }

 private:
  template <class T>
  static Status take(Result<T> result, T& to) {
    ID2VEC_ASSIGN(to, std::move(result));
    return {};
  }

  FileSet files_;
  OpenOptions options_;
  ModelPlan plan_;
};

}  // namespace id2vec

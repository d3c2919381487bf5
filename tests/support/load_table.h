// What a loader does with a plan: allocates the table of a role and puts every stored byte to its place.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "model/model.h"

namespace id2vec::test {

// `bytes_of` is a function (file name) → Bytes, for virtual files too. kTruncated where a file has fewer bytes
// than the plan relies on (deflated data that ends early).
template <class BytesOf>
Result<std::unique_ptr<Table>> load_table(const ModelPlan& plan, const TableSource& source,
                                          const KernelTable& kernels, BytesOf&& bytes_of) {
  ID2VEC_ASSIGN(std::unique_ptr<Table> table, Table::allocate(source.spec, kernels));
  write_inline(source, *table);
  for (const Segment& segment : source.segments) {
    const Bytes file = bytes_of(plan.directory.files[segment.file]);
    if (segment.offset > file.size() || segment.bytes > file.size() - segment.offset) {
      return Status(Code::kTruncated, "the file ends before its table does");
    }
    const Bytes stored = file.subspan(segment.offset, segment.bytes);
    const MutableBytes plane = table->plane(segment.plane);
    const bool converted = source.conversion != Conversion::kNone;
    if (!converted && (segment.target > plane.size() || stored.size() > plane.size() - segment.target)) {
      return Status(Code::kMalformed, "a segment passes the end of its plane");
    }
    put_stored(source, segment.plane, segment.target, stored, *table);
  }
  return table;
}

}  // namespace id2vec::test

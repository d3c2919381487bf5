// safetensors: a JSON header and raw tensors behind it.
//
//   1. header length   u64, little-endian, at most 100 MB
//   2. header          JSON object, starting with '{'; may be padded with spaces at its end:
//                        "<tensor>": {"dtype": "F32", "shape": [V, d], "data_offsets": [begin, end]}
//                        "__metadata__": {"<key>": "<string>", …}                     optional
//   3. data            row-major, little-endian; offsets count from here
//
// The ranges of the tensors cover the data completely: no overlap, no hole, nothing behind the last one. They
// need not be aligned. `__metadata__` becomes Directory::metadata under "__metadata__.<key>".
#pragma once

#include "containers/directory.h"
#include "containers/file_set.h"

namespace id2vec {

bool is_safetensors(Bytes head, uint64_t file_size);

// The header of one file. kTruncated, kMalformed, kUnsupported (an unknown dtype) or kLimit with a sentence.
// A tensor whose dtype is known but not read (F4, F6_E2M3, F8_E8M0, C64, …) is listed in Directory::skipped.
Result<Directory> read_safetensors(FileSet& files, std::string_view file);

}  // namespace id2vec

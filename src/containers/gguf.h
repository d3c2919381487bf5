// GGUF, versions 2 and 3: the file format of ggml and llama.cpp. Little-endian throughout, nothing is aligned
// before the data section. A file is, in this order:
//
//   1. magic               4 bytes "GGUF"
//   2. version             u32
//   3. tensor count        u64
//   4. metadata count      u64
//   5. metadata            per entry: key (string), type (u32), value
//   6. tensor infos        per tensor: name (string), n_dims (u32, at most 4), dims (n_dims × u64, fastest first),
//                          type (u32), offset (u64, into the data section, a multiple of the alignment)
//   7. padding             up to the next multiple of `general.alignment` (a power of two ≥ 8, default 32)
//   8. data section        may be missing, padding included, where no tensor has bytes (vocabulary-only files)
//
//   string                 length (u64), bytes
//   value types            0 u8 · 1 i8 · 2 u16 · 3 i16 · 4 u32 · 5 i32 · 6 f32 · 7 bool (one byte, 0 or 1) · 8 string
//                          9 array: element type (u32), length (u64), elements · 10 u64 · 11 i64 · 12 f64
//
// A model may be split into `name-00001-of-0000N.gguf` …; every shard has `split.no` (from 0), `split.count` and
// `split.tensors.count` (of all shards), and the first one has the rest of the metadata.
//
// Reading is linear in the header's length. `tokenizer.ggml.tokens`, `.scores` and `.token_type` become the
// Directory's vocabulary; other long arrays are stepped over and only counted.
#pragma once

#include "containers/directory.h"
#include "containers/file_set.h"

namespace id2vec {

bool is_gguf(Bytes head, uint64_t file_size);

// The header of `file` and of the shards it belongs to (any shard will do).
// kTruncated, kMalformed, kUnsupported, kLimit or (a shard) kNotFound with a sentence.
Result<Directory> read_gguf(FileSet& files, std::string_view file);

}  // namespace id2vec

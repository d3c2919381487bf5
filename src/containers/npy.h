// numpy's .npy files, and .npz: a zip archive of them.
//
//   "\x93NUMPY"  u8 major, u8 minor  u16 (version 1) or u32 (2, 3) header length  header, padded  elements
//
// The header is a Python dictionary display with exactly the keys 'descr', 'fortran_order' and 'shape', and
// is read by a parser of just that. Fortran order becomes strides. In an npz, entry "NAME.npy" is tensor
// "NAME"; a deflated entry is a virtual file (file_set.h). Source: numpy/lib/format.py.
#pragma once

#include "containers/reader.h"

namespace id2vec {

bool is_npy(Bytes head, uint64_t file_size);
Result<Directory> read_npy(FileSet& files, std::string_view file);

bool is_npz(Bytes head, uint64_t file_size);
Result<Directory> read_npz(FileSet& files, std::string_view file);

}  // namespace id2vec

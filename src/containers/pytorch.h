// PyTorch checkpoints (.pt, .pth, .bin): a pickle that describes tensors as views of storages, and the
// storages.
//
//   zip     NAME/data.pkl, NAME/data/KEY (one storage each), NAME/byteorder; entries stored, data 64-byte
//   aligned legacy  pickles: magic, protocol, system, the object, [KEY, …]; then per key: u64 count, elements
//
// A tensor is _rebuild_tensor_v2(storage, offset, size, stride, …) in elements of its storage; a storage is a
// persistent id ("storage", class, key, device, count). Names are the keys of nested dictionaries joined with
// dots. Several names on one storage (tied weights) give tensors with the same byte range.
// Source: torch/serialization.py, torch/_utils.py.
#pragma once

#include "containers/reader.h"

namespace id2vec {

bool is_pytorch_zip(Bytes head, uint64_t file_size);
Result<Directory> read_pytorch_zip(FileSet& files, std::string_view file);

bool is_pytorch_legacy(Bytes head, uint64_t file_size);
Result<Directory> read_pytorch_legacy(FileSet& files, std::string_view file);

}  // namespace id2vec

// The index of a model that is spread over several files, as Hugging Face's libraries write it
// (model.safetensors.index.json, pytorch_model.bin.index.json):
//
//   { "metadata": {…}, "weight_map": { "<tensor>": "<file>", … } }
#pragma once

#include <string>

#include "containers/directory.h"
#include "containers/file_set.h"

namespace id2vec {

bool is_shard_index(Bytes head, uint64_t file_size);

// The headers of all shards as one directory; the shards may be of any container. kMalformed where the index
// and the shards disagree, kNotFound where a shard is missing.
Result<Directory> read_shard_index(FileSet& files, std::string_view file);

}  // namespace id2vec

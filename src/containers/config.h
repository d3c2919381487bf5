// config.json: what the file itself does not say about a model (Hugging Face's convention for safetensors and
// PyTorch checkpoints).
#pragma once

#include "containers/directory.h"
#include "containers/file_set.h"

namespace id2vec {

// Adds the scalars of the config.json beside the root file to the metadata, under "config." and the path of
// keys joined by dots ("config.text_config.hidden_size"); short lists of numbers or strings too, of longer
// ones the length. Without such a file nothing happens; one that cannot be read becomes a warning, since the
// table itself does not need it.
Status attach_config(FileSet& files, Directory& directory);

}  // namespace id2vec

// Names for the tensors of a checkpoint: the keys on the way to them, joined with dots.
#pragma once

#include <string>
#include <vector>

#include "containers/pickle.h"

namespace id2vec {

struct NamedCall {
  std::string name;    // "state_dict.model.embed_tokens.weight"; empty where the root itself is the tensor
  PickleRef call = 0;  // of kind kCall: one of the tensor-rebuilding globals
};

// Every tensor below the root, in the order of the file; Parameters are replaced by their tensors. A
// dictionary or list that occurs twice (or within itself) is entered once, a tensor that occurs twice is
// listed twice. kLimit past limits::kPickleDepth, kTensors, kNameBytes or kPickleNameRatio.
Result<std::vector<NamedCall>> flatten_tensors(std::string_view where, const Pickle& pickle);

}  // namespace id2vec

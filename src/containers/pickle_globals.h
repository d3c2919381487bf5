// The fixed list of what a pickle may name. Nothing on it is ever called; being here only means that its
// meaning for a reader of tensors is known.
#pragma once

#include <optional>
#include <string_view>

#include "containers/pickle.h"

namespace id2vec {

// nullopt: not on the list.
std::optional<PickleGlobal> pickle_global(std::string_view module, std::string_view name);

}  // namespace id2vec

#pragma once

#include "containers/directory.h"
#include "core/status.h"
#include "model/model.h"

namespace id2vec {

// A table by what a graph says; `hint.tensor` and the tensors beside it must exist (kNotFound).
Result<TableSource> hinted_source(const Directory& directory, const RoleHint& hint);

}  // namespace id2vec

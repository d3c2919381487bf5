// Which tensor plays which role: by the file's own graph, by name (alias.h), or because there is only one choice.
#pragma once

#include "core/status.h"
#include "model/model.h"

namespace id2vec {

// Fills plan.roles, plan.tying and plan.warnings from plan.directory. kNotFound or kAmbiguous where no tensor is
// clearly the embedding (the sentence lists the candidates), kNotFound for a name in `options` that is no tensor,
// kUnsupported where its dtype is no format.
Status resolve_roles(const OpenOptions& options, ModelPlan& plan);

// Width of the first layer: rows of the projection where there is one, else the columns of the embedding.
uint32_t hidden_width(const ModelPlan& plan);

}  // namespace id2vec

// Where the parts of a model disagree: what is stated about its tables, against the tables themselves. The tables count;
// what is found becomes a sentence of ModelPlan::warnings.
//
//   tie_word_embeddings   true beside a head of its own; false where there is no head. Where head and embedding look
//                         alike (Tying::kCompare) only their bytes tell: the loader has the last word
//   vocabulary            more pieces than rows: the last ones cannot be looked up. Fewer: the last rows are no token's
//   vocab_size            of config.json, against the rows
//   special ids           padding, BOS, EOS, unknown, beyond the last row
//
// Tables with a mapping are left out of the last three: their ids are not their rows.
#pragma once

#include "model/model.h"

namespace id2vec {

// `plan` with its roles and its profile.
void note_contradictions(ModelPlan& plan);

}  // namespace id2vec

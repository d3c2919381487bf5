// What the core finds in files, as answers.
#pragma once

#include "answer.h"
#include "containers/directory.h"
#include "model/memory_bill.h"
#include "model/model.h"
#include "model/profile.h"
#include "table/table.h"

namespace id2vec {

// Metadata goes as [key, value] pairs: a key may be "__proto__".
void write(Answer& to, const Directory& directory);

// { roles, profile, tying, headProblem, warnings }
void write(Answer& to, const ModelPlan& plan);

// What a table is, but for its rows: a plain object that may be sent to another thread.
void write(Answer& to, const TableSpec& spec);

void write(Answer& to, const MemoryBill& bill);

}  // namespace id2vec

// A table with more or fewer rows. The rows that stay keep their bytes, whatever their format; new rows are zeros (all
// bytes zero, which every block format decodes to 0) or the mean of the rows there are, in the table's own format.
#pragma once

#include <memory>

#include "containers/directory.h"
#include "core/status.h"
#include "table/table.h"

namespace id2vec {

enum class NewRows : uint8_t { kZeros, kMean };

// kUnsupported: new rows where all rows share one scale (zero bytes are no zeros there), and kMean where there is no
// encoder for the format (for integers with scales apart: any layout but row_int8_spec()). kInvalidArgument: no rows.
Result<std::unique_ptr<Table>> resize_table(const Table& source, uint64_t rows, NewRows fill);

// The same for a vector with one value per id, a table of one row. kUnsupported where its format has blocks.
Result<std::unique_ptr<Table>> resize_vector(const Table& source, uint32_t values, NewRows fill);

// The vocabulary of a table of `size` rows: pieces beyond are dropped, and with them the merges (where `directory` has
// them) that make them; new ones are unused pieces "[PAD<id>]", as converters write them.
void resize_vocabulary(Directory& directory, size_t size);

}  // namespace id2vec

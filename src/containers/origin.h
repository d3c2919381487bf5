// What a file says beside its tensors, as bytes: so that a model can be written by a core that did not read it, in a
// memory of its own. Numbers as they lie in memory, lengths as u64, strings and arrays after their length:
//
//   count, count × { key, index of the value's type in MetadataValue (u8), value }, text, offsets, scores, types
//
// Both ends are the same version of this library, in the same process: it is no file format.
#pragma once

#include <string>
#include <string_view>

#include "containers/directory.h"

namespace id2vec {

// Of metadata and vocabulary alone.
std::string pack_origin(const Directory& source);

// Replaces metadata and vocabulary. kMalformed where the bytes are not those of pack_origin.
Status unpack_origin(std::string_view bytes, Directory& to);

}  // namespace id2vec

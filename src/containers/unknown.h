// What to say about a file that no reader recognises.
#pragma once

#include <string_view>

#include "core/bytes.h"
#include "core/status.h"

namespace id2vec {

// kUnsupported (kTruncated for an empty file), with a sentence that tells a person what the file seems to be.
Status unknown_file(std::string_view file, Bytes head);

}  // namespace id2vec

// The dictionary in a .npy header: {'descr': '<f4', 'fortran_order': False, 'shape': (512, 64), }
#pragma once

#include <string_view>
#include <vector>

#include "core/status.h"

namespace id2vec {

struct NpyHeader {
  std::string_view descr;  // "<f4"; points into the header
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

// kMalformed for anything but the three keys, each once, with values of these kinds; kUnsupported for a
// structured dtype (a list). `where` begins the error sentence.
Result<NpyHeader> parse_npy_header(std::string_view where, std::string_view text);

}  // namespace id2vec

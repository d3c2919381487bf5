// The one list of formats. A row here is all that kernels, tests, benchmarks, the catalog and JavaScript
// need.
#pragma once

#include "formats/bf16.h"
#include "formats/f16.h"
#include "formats/f32.h"
#include "formats/format.h"
#include "formats/q4_0.h"
#include "formats/q8_0.h"

namespace id2vec {

template <Format... F>
struct FormatList {
  static constexpr size_t kCount = sizeof...(F);

  // visit.template operator()<F>() for every format, in order.
  template <class Visit>
  static constexpr void for_each(Visit&& visit) {
    (visit.template operator()<F>(), ...);
  }

  // Index of format G in the list; kCount if it is not there.
  template <class G>
  static constexpr size_t index_of() {
    size_t index = 0;
    (void)((std::is_same_v<F, G> || (++index, false)) || ...);
    return index;
  }
};

using Formats = FormatList<F32, F16, BF16, Q8_0, Q4_0>;

}  // namespace id2vec

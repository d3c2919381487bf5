// The one list of formats. A row here is all that kernels, tests, benchmarks, catalog and JavaScript need.
#pragma once

#include "formats/affine.h"
#include "formats/bf16.h"
#include "formats/f16.h"
#include "formats/f32.h"
#include "formats/f64.h"
#include "formats/f8_e4m3.h"
#include "formats/f8_e5m2.h"
#include "formats/format.h"
#include "formats/iq1_m.h"
#include "formats/iq1_s.h"
#include "formats/iq2_s.h"
#include "formats/iq2_xs.h"
#include "formats/iq2_xxs.h"
#include "formats/iq3_s.h"
#include "formats/iq3_xxs.h"
#include "formats/iq4_nl.h"
#include "formats/iq4_xs.h"
#include "formats/mxfp4.h"
#include "formats/nvfp4.h"
#include "formats/q1_0.h"
#include "formats/q2_0.h"
#include "formats/q2_k.h"
#include "formats/q3_k.h"
#include "formats/q4_0.h"
#include "formats/q4_1.h"
#include "formats/q4_k.h"
#include "formats/q5_0.h"
#include "formats/q5_1.h"
#include "formats/q5_k.h"
#include "formats/q6_k.h"
#include "formats/q8_0.h"
#include "formats/q8_1.h"
#include "formats/tq1_0.h"
#include "formats/tq2_0.h"

namespace id2vec {

// A row of the list: a format with blocks, or one whose scales lie apart.
template <class F>
concept AnyFormat = Format<F> || PlanarFormat<F>;

template <AnyFormat... F>
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

using Formats = FormatList<F32, F16, BF16, F64, F8_E4M3, F8_E5M2,                                 //
                           Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1,                                    //
                           Q2_K, Q3_K, Q4_K, Q5_K, Q6_K,                                          //
                           IQ4_NL, IQ4_XS, IQ3_S, IQ3_XXS, IQ2_S, IQ2_XS, IQ2_XXS, IQ1_M, IQ1_S,  //
                           TQ2_0, TQ1_0, MXFP4, NVFP4, Q2_0, Q1_0,                                //
                           Affine8, Affine6, Affine4, Affine3, Affine2>;

}  // namespace id2vec

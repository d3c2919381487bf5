// How much work a piece of the core is, in a measure that no machine's speed enters: the comparisons it makes, which
// the coverage instrumentation of the sanitized build reports one by one, and the bytes it allocates in all.
#pragma once

#include <cstddef>

namespace id2vec::test {

struct Work {
  size_t comparisons = 0;
  size_t allocated = 0;
};

// What was done since the program began.
Work work_so_far();

// The work of one call.
template <class Do>
Work work_of(Do&& act) {
  const Work before = work_so_far();
  act();
  const Work after = work_so_far();
  return {after.comparisons - before.comparisons, after.allocated - before.allocated};
}

}  // namespace id2vec::test

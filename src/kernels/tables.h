// The kernel tables, one per instruction-set file. Which of them a build carries: kernel_tables.cpp.
#pragma once

#include "kernels/kernels.h"

namespace id2vec {

extern const KernelTable kScalarKernels;
extern const KernelTable kSimd128Kernels;
extern const KernelTable kRelaxedKernels;

}  // namespace id2vec

// The WebAssembly intrinsics on the machine that compiles: SIMDe implements them with the instructions at hand.
// Only the native build has this folder on its include path; there it stands before the compiler's own header.
#pragma once

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/wasm/simd128.h>

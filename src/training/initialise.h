// Fresh tables: weights drawn from a normal distribution, the same for the same seed on every machine that
// rounds float64 log, sqrt and cos alike (every wasm engine: they are compiled into the module).
#pragma once

#include <cstdint>
#include <span>

namespace id2vec {

// Fills `weights` with mean 0 and the given standard deviation. Uniform bits from SplitMix64 (Steele, Lea and
// Flood 2014), turned into pairs of normals by the Box–Muller transform.
void fill_normal(std::span<float> weights, double standard_deviation, uint64_t seed);

}  // namespace id2vec

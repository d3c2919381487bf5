// The nonlinearities of prediction heads, element by element in double, rounded once.
//   gelu:      x · Φ(x) = x · ½ · (1 + erf(x / √2))
//   gelu tanh: x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))     (Hendrycks & Gimpel 2016, section 2)
//   relu:      max(x, 0)
#pragma once

#include <span>

#include "core/elementary.h"
#include "model/profile.h"

namespace id2vec {

inline double activate(Activation kind, double x) {
  constexpr double kTanhFactor = 0.79788456080286535588;  // √(2/π)
  switch (kind) {
    case Activation::kNone: return x;
    case Activation::kGelu: return x * normal_share(x);
    case Activation::kGeluTanh:
      return x * 0.5 * (1 + hyperbolic_tangent(kTanhFactor * (x + 0.044715 * x * x * x)));
    case Activation::kRelu: return x > 0 ? x : 0;
  }
  return x;
}

inline void activate(Activation kind, std::span<float> x) {
  if (kind == Activation::kNone) return;
  for (float& value : x) value = static_cast<float>(activate(kind, value));
}

}  // namespace id2vec

// What the binding files share: how failures and addresses cross the border to JavaScript.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "core/status.h"

namespace id2vec {

inline Status last_failure;

// The code as JavaScript gets it; the message waits in last_failure.
inline int report(Status status) {
  const int code = static_cast<int>(status.code());
  if (code != 0) last_failure = std::move(status);
  return code;
}

template <class T>
T* at(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

// `count` values at `address`; nothing where the address is 0.
template <class T>
std::span<T> span_at(uintptr_t address, size_t count) {
  return address == 0 ? std::span<T>() : std::span<T>(at<T>(address), count);
}

}  // namespace id2vec

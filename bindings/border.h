// What the binding files share: how a function of the core becomes one that JavaScript can call.
//
//   bind<&Opener::feed>("feed");      JavaScript: feed(opener, file, offset, length)
//
// What crosses is plain, so that little code and a small glue do it (a value of another type does not compile):
//
//   numbers    whole ones of 32 bits, addresses among them, as size_t; those of 64 bits (sizes, file offsets) as double,
//              which is exact up to 2^53
//   objects    as their addresses, 0 for null, and so is memory: JavaScript owns what it got from a function that returns
//              a unique_ptr, and gives it back to a `delete…`
//   arrays     never: the caller writes them into memory that it got from `allocate` and passes address and count
//   failures   as their codes, 0 for success; of an object or an Answer, as 0. `errorCode` and `errorMessage` say more
//   the rest   as an Answer (answer.h) on its way out, as a struct of doubles (calls.h) on its way in
#pragma once

#include <emscripten/bind.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "answer.h"
#include "core/status.h"

namespace id2vec {

inline Status last_failure;

// The code as JavaScript gets it; the message waits in last_failure.
inline size_t report(Status status) {
  const auto code = static_cast<size_t>(status.code());
  if (code != 0) last_failure = std::move(status);
  return code;
}

template <class T>
T* at(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

template <class T>
uintptr_t address_of(T* object) {
  return reinterpret_cast<uintptr_t>(object);
}

// `count` values at `address`; nothing where the address is 0.
template <class T>
std::span<T> span_at(uintptr_t address, size_t count) {
  return address == 0 ? std::span<T>() : std::span<T>(at<T>(address), count);
}

// Types of arguments on the border, and back.
template <class T>
struct Wire {
  static_assert(std::integral<T> && sizeof(T) <= sizeof(size_t));
  using Type = size_t;
  static T in(size_t value) { return static_cast<T>(value); }
};
template <>
struct Wire<bool> {
  using Type = bool;
  static bool in(bool value) { return value; }
};
template <class T>
  requires std::same_as<T, uint64_t> || std::same_as<T, double>
struct Wire<T> {
  using Type = double;
  static T in(double value) { return static_cast<T>(value); }
};
template <>
struct Wire<const std::string&> {
  using Type = const std::string&;
  static const std::string& in(const std::string& value) { return value; }
};
template <class T>
struct Wire<T*> {
  using Type = uintptr_t;
  static T* in(uintptr_t address) { return at<T>(address); }
};
template <class T>
struct Wire<T&> {
  using Type = uintptr_t;
  static T& in(uintptr_t address) { return *at<T>(address); }
};

// Results.
inline bool to_wire(bool value) { return value; }
template <std::integral T>
  requires(sizeof(T) <= sizeof(size_t))
size_t to_wire(T value) {
  return static_cast<size_t>(value);
}
inline double to_wire(uint64_t value) { return static_cast<double>(value); }
inline double to_wire(double value) { return value; }
inline std::string to_wire(std::string_view text) { return std::string(text); }
inline size_t to_wire(Status status) { return report(std::move(status)); }
inline uintptr_t to_wire(Answer answer) {
  const uint8_t* bytes = answer.release();
  if (bytes == nullptr)
    report(Status(Code::kOutOfMemory, "There is no memory left for an answer of the core."));
  return address_of(bytes);
}
template <class T>
uintptr_t to_wire(T* object) {
  return address_of(object);
}
template <class T>
uintptr_t to_wire(std::unique_ptr<T> object) {
  return address_of(object.release());
}
template <class T>
auto to_wire(Result<T> result) {
  return report(std::move(result).status()) == 0 ? to_wire(std::move(result.value()))
                                                 : decltype(to_wire(std::declval<T>())){};
}

template <auto function, class R, class... Arguments>
auto cross(typename Wire<Arguments>::Type... arguments) {
  if constexpr (std::is_void_v<R>) {
    std::invoke(function, Wire<Arguments>::in(arguments)...);
  } else {
    return to_wire(std::invoke(function, Wire<Arguments>::in(arguments)...));
  }
}

template <auto function, class R, class... Arguments>
constexpr auto crossing(R (*)(Arguments...)) {
  return &cross<function, R, Arguments...>;
}
template <auto function, class R, class Object, class... Arguments>
constexpr auto crossing(R (Object::*)(Arguments...)) {
  return &cross<function, R, Object&, Arguments...>;
}
template <auto function, class R, class Object, class... Arguments>
constexpr auto crossing(R (Object::*)(Arguments...) const) {
  return &cross<function, R, const Object&, Arguments...>;
}

// JavaScript calls `function` by this name; a member function gets its object first.
template <auto function>
void bind(const char* name) {
  emscripten::function(name, crossing<function>(function));
}

template <class T>
void destroy(T* object) {
  delete object;
}

}  // namespace id2vec

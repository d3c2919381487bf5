// What leaves the core in more than a number: values as JSON has them, packed, because the names in a file are any bytes
// and numbers any doubles. bindings/js/answer.ts reads it:
//
//   'n' double · 't' length (u32), bytes · 'y' true · 'x' false · '0' null
//   '[' values ']' · '{' texts and values in turn '}'
//
// Little-endian, no padding. What is put is a bool, a number, a text, a vector or an optional of such, a function that
// puts a value itself, or of a type with an overload write(Answer&, const T&).
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace id2vec {

class Answer {
 public:
  Answer() = default;
  ~Answer() { std::free(bytes_); }
  Answer(Answer&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_), capacity_(other.capacity_) {}
  Answer& operator=(Answer&&) = delete;

  void put(bool value) { put_kind(value ? 'y' : 'x'); }
  void put(double value);
  template <std::integral T>
  void put(T value) {
    put(static_cast<double>(value));
  }
  void put(std::string_view text);
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(const char* text) { put(std::string_view(text)); }
  template <class T>
  void put(const std::vector<T>& list) {
    put_list(list, [this](const T& item) { put(item); });
  }
  template <class T>
  void put(const std::optional<T>& value) {
    if (value)
      put(*value);
    else
      put_kind('0');
  }
  template <std::invocable T>
  void put(const T& function) {
    function();
  }
  template <class T>
    requires requires(Answer& answer, const T& value) { write(answer, value); }
  void put(const T& value) {
    write(*this, value);
  }

  // `each` puts one value for an item.
  template <class List, class Each>
  void put_list(const List& list, Each each) {
    put_kind('[');
    for (const auto& item : list) each(item);
    put_kind(']');
  }

  template <class... Items>
  void put_array(const Items&... items) {
    put_kind('[');
    (put(items), ...);
    put_kind(']');
  }

  // An object: put_object("name", name, "rows", rows).
  template <class... Fields>
  void put_object(const Fields&... fields) {
    put_kind('{');
    (put(fields), ...);
    put_kind('}');
  }

  // One whose fields depend: `each` puts a name and a value for an item.
  template <class List, class Each>
  void put_fields(const List& list, Each each) {
    put_kind('{');
    for (const auto& item : list) each(item);
    put_kind('}');
  }

  // put_object as an answer of its own.
  template <class... Fields>
  static Answer object(const Fields&... fields) {
    Answer answer;
    answer.put_object(fields...);
    return answer;
  }
  template <class T>
  static Answer of(const T& value) {
    Answer answer;
    answer.put(value);
    return answer;
  }

  // The length (u32) and the bytes, which JavaScript frees. Null where there was no memory for them.
  uint8_t* release();

 private:
  static constexpr size_t kLength = sizeof(uint32_t);

  void append(const void* from, size_t count);
  void put_kind(char kind) { append(&kind, 1); }

  // Grown in place where that can be: a directory of 100,000 tensors takes 20 MB. Null after there was no memory, too.
  uint8_t* bytes_ = nullptr;
  size_t size_ = kLength;
  size_t capacity_ = 0;
};

}  // namespace id2vec

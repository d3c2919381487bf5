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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace id2vec {

class Answer {
 public:
  void put(bool value) { bytes_ += value ? 'y' : 'x'; }
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
      bytes_ += '0';
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
    bytes_ += '[';
    for (const auto& item : list) each(item);
    bytes_ += ']';
  }

  template <class... Items>
  void put_array(const Items&... items) {
    bytes_ += '[';
    (put(items), ...);
    bytes_ += ']';
  }

  // An object: put_object("name", name, "rows", rows).
  template <class... Fields>
  void put_object(const Fields&... fields) {
    bytes_ += '{';
    (put(fields), ...);
    bytes_ += '}';
  }

  // One whose fields depend: `each` puts a name and a value for an item.
  template <class List, class Each>
  void put_fields(const List& list, Each each) {
    bytes_ += '{';
    for (const auto& item : list) each(item);
    bytes_ += '}';
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

  // A copy that JavaScript frees: the length (u32), and the bytes. Null where there is no memory for it.
  uint8_t* release() const;

 private:
  std::string bytes_;
};

}  // namespace id2vec

// A pull reader for JSON (RFC 8259). The caller asks for what it expects, in the order of the text:
//
//   JsonReader json(text);
//   std::string key;
//   json.enter_object();
//   while (json.next_key(key)) {
//     if (key == "total") total = json.read_u64(); else json.skip_value();
//   }
//   json.finish();
//   if (!json.ok()) return json.status("config.json");
//
// Strict: UTF-8 is checked, numbers follow the grammar, nothing may trail, surrogates come in pairs, a key
// may not appear twice in one object, and nesting stops at limits::kJsonDepth. Nothing recurses. After the
// first error every call returns a neutral value at once (false, 0, empty), so errors need to be looked at
// only at the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "containers/limits.h"
#include "core/status.h"

namespace id2vec {

struct JsonNumber {
  double value = 0;
  uint64_t magnitude = 0;   // |value| exactly, where is_integer
  bool negative = false;
  bool is_integer = false;  // digits only, and |value| < 2^64
};

class JsonReader {
 public:
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject, kNone };
  // kPython also takes the NaN, Infinity and -Infinity that Python's json module writes into config.json.
  enum class Dialect : uint8_t { kStrict, kPython };

  explicit JsonReader(std::string_view text, Dialect dialect = Dialect::kStrict)
      : text_(text), dialect_(dialect) {}

  // The kind of the value at the cursor, which stays where it is; kNone where there is no value.
  Kind peek();

  // Each moves past one value, which has to be of that kind.
  void read_null();
  bool read_bool();
  JsonNumber read_number();
  uint64_t read_u64();  // an integer ≥ 0
  std::string read_string();
  void skip_value();    // of any kind, checked like the others

  // Moves past '{' (or '['); then every call of next_key (next_element) moves to the next member's value, or
  // past the closing bracket, and then returns false.
  void enter_object();
  bool next_key(std::string& key);
  void enter_array();
  bool next_element();

  // Nothing but whitespace may follow.
  void finish();

  bool ok() const { return problem_ == nullptr; }
  // kOk, or kMalformed / kLimit: what is wrong and at which byte. `where` begins the sentence.
  Status status(std::string_view where) const;

 private:
  struct Key {
    uint64_t hash;
    size_t offset;
  };
  struct Level {
    bool is_object = false;
    bool is_first = true;
    size_t first_key = 0;  // index into keys_
  };

  void fail_at(size_t offset, const char* problem, Code code = Code::kMalformed);
  void skip_space();
  bool take(char expected);
  bool take_word(std::string_view word);
  void enter(char bracket, bool is_object);
  bool next_member(char closing);
  void leave();
  void append_string(std::string& out);
  void append_escape(std::string& out);
  uint32_t read_hex4();
  bool digits();
  JsonNumber read_python_number(bool negative);
  void reject_twins(size_t first_key);

  std::string_view text_;
  size_t at_ = 0;
  Dialect dialect_;
  int depth_ = 0;
  Level levels_[limits::kJsonDepth];
  std::vector<Key> keys_;  // of the objects that are open
  std::string scratch_;
  const char* problem_ = nullptr;
  Code code_ = Code::kOk;
  size_t problem_at_ = 0;
  std::string twin_;  // the key that appears twice
};

}  // namespace id2vec

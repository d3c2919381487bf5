#include "containers/pickle.h"

#include <optional>
#include <string>

#include "containers/limits.h"
#include "containers/pickle_globals.h"
#include "containers/pickle_program.h"
#include "core/text.h"

namespace id2vec {
namespace {

using namespace pickle_opcode;
using Kind = PickleValue::Kind;

class Machine {
 public:
  Machine(std::string_view where, Bytes bytes) : where_(where), program_(where, bytes) {
    // None, True, False and () are shared: one byte of pickle should not become a value each time.
    for (const Kind kind : {Kind::kNone, Kind::kBool, Kind::kBool, Kind::kSequence}) add(kind);
    pickle_.values[kTrueRef].integer = 1;
  }

  Result<Pickle> run() {
    while (true) {
      ID2VEC_ASSIGN(const uint8_t opcode, program_.number<uint8_t>());
      if (opcode == kStop) break;
      if (pickle_.values.size() > limits::kPickleValues) {
        return fail(Code::kLimit, where_, ": this pickle has more than ", limits::kPickleValues, " values");
      }
      ID2VEC_RETURN_IF_ERROR(step(opcode));
    }
    if (stack_.empty() || !marks_.empty()) return broken("it stops without a value");
    pickle_.root = stack_.back();
    pickle_.bytes = program_.position();
    return std::move(pickle_);
  }

 private:
  static constexpr PickleRef kNoneRef = 0, kTrueRef = 1, kFalseRef = 2, kEmptyTupleRef = 3;

  Status broken(auto... parts) const { return program_.broken(parts...); }

  // Values and the stack
  // ---------------------------------------------------------------------------------------
  PickleRef add(Kind kind) {
    pickle_.values.emplace_back().kind = kind;
    return static_cast<PickleRef>(pickle_.values.size() - 1);
  }
  Status push(PickleRef ref) {
    stack_.push_back(ref);
    return {};
  }
  Status push_integer(int64_t value) {
    const PickleRef ref = add(Kind::kInt);
    pickle_.values[ref].integer = value;
    return push(ref);
  }
  Status push_text(Kind kind, Result<std::string_view> text) {
    if (!text.ok()) return text.status();
    const PickleRef ref = add(kind);
    pickle_.values[ref].text = text.value();
    return push(ref);
  }
  Status push_items(Kind kind, std::vector<PickleRef> items) {
    const PickleRef ref = add(kind);
    pickle_.values[ref].items = std::move(items);
    return push(ref);
  }

  // How many values lie above the last mark (or the bottom): what may be popped without passing a mark.
  size_t above_mark() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  Result<PickleRef> pop() {
    if (above_mark() == 0) return broken("it takes a value from an empty stack");
    const PickleRef top = stack_.back();
    stack_.pop_back();
    return top;
  }

  Result<std::vector<PickleRef>> pop_to_mark() {
    if (marks_.empty()) return broken("it goes back to a mark that was never set");
    const auto from = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
    std::vector<PickleRef> items(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return items;
  }

  Status tuple(size_t count) {
    if (above_mark() < count) return broken("it takes a value from an empty stack");
    std::vector<PickleRef> items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return push_items(Kind::kSequence, std::move(items));
  }

  // Adds to the container on top of the stack: what was appended to a value of another kind is dropped, for
  // only opaque objects (a Counter) come with items of their own.
  Status extend(Kind kind, const std::vector<PickleRef>& items) {
    if (above_mark() == 0) return broken("it adds to a container on an empty stack");
    const PickleRef top = stack_.back();
    if (kind == Kind::kDict && items.size() % 2 != 0)
      return broken("a dictionary gets a key without a value");
    if (top == kEmptyTupleRef) return broken("it adds to a tuple");
    PickleValue& target = pickle_.values[top];
    if (target.kind == kind) {
      target.items.insert(target.items.end(), items.begin(), items.end());
    } else if (target.kind != Kind::kCall) {
      return broken("it adds items to something that is no container");
    }
    return {};
  }

  Status extend_to_mark(Kind kind) {
    ID2VEC_ASSIGN(const std::vector<PickleRef> items, pop_to_mark());
    return extend(kind, items);
  }

  // The memo
  // ---------------------------------------------------------------------------------------------------
  Status put(uint64_t index) {
    // Writers number their memo entries in order, and each costs a byte: a larger index is no honest one.
    if (index > program_.size()) return broken("the memo index ", index, " is larger than the pickle");
    if (above_mark() == 0) return broken("it remembers a value of an empty stack");
    if (index >= memo_.size()) memo_.resize(index + 1, kUnset);
    memo_[index] = stack_.back();
    return {};
  }
  Status get(uint64_t index) {
    if (index >= memo_.size() || memo_[index] == kUnset)
      return broken("memo entry ", index, " was never written");
    return push(memo_[index]);
  }

  // Globals and calls
  // ------------------------------------------------------------------------------------------
  Status push_global(std::string_view module, std::string_view name) {
    const std::optional<PickleGlobal> global = pickle_global(module, name);
    if (!global) {
      return fail(
          Code::kUnsupported, where_, ": this pickle asks for ", quoted(concat(module, ".", name)),
          ", which is not on the list of what a tensor file needs; id2vec executes no pickle: save the bare "
          "state_dict with torch.save, or convert it to safetensors");
    }
    const PickleRef ref = add(Kind::kGlobal);
    pickle_.values[ref].global = *global;
    pickle_.values[ref].text = name;
    return push(ref);
  }

  Status global_from_lines() {
    ID2VEC_ASSIGN(const std::string_view module, program_.line());
    ID2VEC_ASSIGN(const std::string_view name, program_.line());
    return push_global(module, name);
  }

  Status global_from_stack() {
    ID2VEC_ASSIGN(const PickleRef name, pop());
    ID2VEC_ASSIGN(const PickleRef module, pop());
    if (pickle_[name].kind != Kind::kText || pickle_[module].kind != Kind::kText) {
      return broken("a global is named by something that is no text");
    }
    return push_global(pickle_[module].text, pickle_[name].text);
  }

  // [[key, value], …] as key, value, …; stays empty for anything else.
  std::vector<PickleRef> pairs(const PickleValue& arguments) const {
    std::vector<PickleRef> items;
    if (arguments.items.empty()) return items;
    const PickleValue& first = pickle_[arguments.items.back()];
    if (first.kind == Kind::kDict) return first.items;
    for (const PickleRef pair : first.items) {
      const std::vector<PickleRef>& two = pickle_[pair].items;
      if (two.size() == 2) items.insert(items.end(), two.begin(), two.end());
    }
    return items;
  }

  // Calls that return their argument's items copy them; a list that is passed again and again would grow
  // without end from a few bytes each time.
  Status push_copy(Kind kind, std::vector<PickleRef> items) {
    copied_ += items.size();
    if (copied_ > program_.size()) return broken("its calls copy more items than it has bytes");
    return push_items(kind, std::move(items));
  }

  Status call(PickleRef callable, PickleRef arguments) {
    if (pickle_[callable].kind != Kind::kGlobal || pickle_[arguments].kind != Kind::kSequence) {
      return broken("it calls something that is no function");
    }
    switch (pickle_[callable].global) {
      case PickleGlobal::kDict: return push_copy(Kind::kDict, pairs(pickle_[arguments]));
      case PickleGlobal::kSequence: {
        const std::vector<PickleRef>& only = pickle_[arguments].items;
        return push_copy(Kind::kSequence, only.empty() ? only : pickle_[only[0]].items);
      }
      default: return push_items(Kind::kCall, {callable, arguments});
    }
  }

  Status call_from_stack() {
    ID2VEC_ASSIGN(const PickleRef arguments, pop());
    ID2VEC_ASSIGN(const PickleRef callable, pop());
    return call(callable, arguments);
  }

  Status persistent() {
    ID2VEC_ASSIGN(const PickleRef id, pop());
    return push_items(Kind::kPersistent, {id});
  }

  // A little-endian two's complement of up to 8 bytes becomes an integer.
  Status push_long(Result<std::string_view> digits) {
    if (!digits.ok()) return digits.status();
    const std::string_view raw = digits.value();
    if (raw.size() > 8) return push_text(Kind::kBigInt, raw);
    uint64_t value = !raw.empty() && (static_cast<uint8_t>(raw.back()) & 0x80) ? ~uint64_t{0} : 0;
    for (size_t i = raw.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(raw[i]);
    return push_integer(static_cast<int64_t>(value));
  }

  // Protocol 1 writes truth values and numbers past 31 bits as lines of text.
  Status push_int_line() {
    ID2VEC_ASSIGN(const std::string_view text, program_.line());
    if (text == "00") return push(kFalseRef);
    if (text == "01") return push(kTrueRef);
    return push_decimal(text);
  }
  Status push_long_line() {
    ID2VEC_ASSIGN(std::string_view text, program_.line());
    if (text.ends_with('L')) text.remove_suffix(1);
    return push_decimal(text);
  }
  Status push_decimal(std::string_view text) {
    constexpr size_t kSafeDigits = 18;  // of a signed 64-bit number
    const bool negative = text.starts_with('-');
    const std::string_view digits = text.substr(negative ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) {
      return broken(quoted(text.substr(0, 32)), " is no whole number");
    }
    if (digits.size() > kSafeDigits) return push_text(Kind::kBigInt, text);
    int64_t value = 0;
    for (const char digit : digits) value = value * 10 + (digit - '0');
    return push_integer(negative ? -value : value);
  }

  template <class T>
  Status push_number() {
    ID2VEC_ASSIGN(const T value, program_.number<T>());
    return push_integer(value);
  }
  template <class T>
  Status with_index(Status (Machine::*action)(uint64_t)) {
    ID2VEC_ASSIGN(const T index, program_.number<T>());
    return (this->*action)(index);
  }
  Status pop_mark(Kind kind) {
    ID2VEC_ASSIGN(std::vector<PickleRef> items, pop_to_mark());
    if (kind == Kind::kDict && items.size() % 2 != 0)
      return broken("a dictionary gets a key without a value");
    return push_items(kind, std::move(items));
  }
  Status append() {
    ID2VEC_ASSIGN(const PickleRef item, pop());
    return extend(Kind::kSequence, {item});
  }
  Status set_item() {
    ID2VEC_ASSIGN(const PickleRef value, pop());
    ID2VEC_ASSIGN(const PickleRef key, pop());
    return extend(Kind::kDict, {key, value});
  }
  Status push_float() {
    ID2VEC_RETURN_IF_ERROR(program_.skip(8));
    return push(add(Kind::kFloat));
  }
  Status drop() {
    const Result<PickleRef> dropped = pop();
    return dropped.ok() ? Status() : dropped.status();
  }
  Status drop_to_mark() {
    const auto dropped = pop_to_mark();
    return dropped.ok() ? Status() : dropped.status();
  }
  // obj.__new__(class, *arguments, **keywords)
  Status new_object_with_keywords() {
    ID2VEC_RETURN_IF_ERROR(drop());
    return call_from_stack();
  }
  Status mark() {
    marks_.push_back(stack_.size());
    return {};
  }
  Status duplicate() {
    if (above_mark() == 0) return broken("it doubles a value of an empty stack");
    return push(stack_.back());
  }

  Status step(uint8_t opcode) {
    switch (opcode) {
      case kProto: return program_.skip(1);
      case kFrame: return program_.skip(8);
      case kMark: return mark();
      case kPop: return above_mark() == 0 && !marks_.empty() ? drop_to_mark() : drop();
      case kPopMark: return drop_to_mark();
      case kDup: return duplicate();
      case kNone: return push(kNoneRef);
      case kNewTrue: return push(kTrueRef);
      case kNewFalse: return push(kFalseRef);
      case kEmptyTuple: return push(kEmptyTupleRef);
      case kInt: return push_int_line();
      case kLong: return push_long_line();
      case kBinInt: return push_number<int32_t>();
      case kBinInt1: return push_number<uint8_t>();
      case kBinInt2: return push_number<uint16_t>();
      case kLong1: return push_long(program_.counted<uint8_t>());
      case kLong4: return push_long(program_.counted<uint32_t>());
      case kBinFloat: return push_float();
      case kShortBinString:
      case kShortBinBytes:
      case kShortBinUnicode: return push_text(Kind::kText, program_.counted<uint8_t>());
      case kBinString:
      case kBinBytes:
      case kBinUnicode: return push_text(Kind::kText, program_.counted<uint32_t>());
      case kBinUnicode8:
      case kBinBytes8:
      case kByteArray8: return push_text(Kind::kText, program_.counted<uint64_t>());
      case kEmptyList:
      case kEmptySet: return push(add(Kind::kSequence));
      case kEmptyDict: return push(add(Kind::kDict));
      case kAppend: return append();
      case kAppends:
      case kAddItems: return extend_to_mark(Kind::kSequence);
      case kTuple:
      case kList:
      case kFrozenSet: return pop_mark(Kind::kSequence);
      case kTuple1: return tuple(1);
      case kTuple2: return tuple(2);
      case kTuple3: return tuple(3);
      case kDict: return pop_mark(Kind::kDict);
      case kSetItem: return set_item();
      case kSetItems: return extend_to_mark(Kind::kDict);
      case kBinGet: return with_index<uint8_t>(&Machine::get);
      case kLongBinGet: return with_index<uint32_t>(&Machine::get);
      case kBinPut: return with_index<uint8_t>(&Machine::put);
      case kLongBinPut: return with_index<uint32_t>(&Machine::put);
      case kMemoize: return put(memo_.size());
      case kGlobal: return global_from_lines();
      case kStackGlobal: return global_from_stack();
      case kReduce:
      case kNewObj: return call_from_stack();
      case kNewObjEx: return new_object_with_keywords();
      case kBuild: return drop();  // attributes of an object; a tensor needs none
      case kBinPersId: return persistent();
      default: return refuse(opcode);
    }
  }

  // What protocol 0 has in place of the later binary instructions: texts, floats, the memo, persistent ids.
  static constexpr std::string_view kProtocol0 = "SVFpgPio";

  Status refuse(uint8_t opcode) const {
    if (kProtocol0.find(static_cast<char>(opcode)) != kProtocol0.npos) {
      return fail(Code::kUnsupported, where_, ": this pickle is written in protocol 0 (instruction ", opcode,
                  " at byte ", program_.position() - 1,
                  "), which is not read; save it again with torch.save's own protocol");
    }
    return fail(Code::kUnsupported, where_, ": the pickle uses instruction ", opcode, " at byte ",
                program_.position() - 1, ", which no file of torch.save (protocols 1 to 5) needs");
  }

  static constexpr PickleRef kUnset = ~PickleRef{0};

  std::string_view where_;
  PickleProgram program_;
  uint64_t copied_ = 0;  // items
  Pickle pickle_;
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::vector<PickleRef> memo_;
};

}  // namespace

Result<Pickle> read_pickle(std::string_view where, Bytes bytes) { return Machine(where, bytes).run(); }

}  // namespace id2vec

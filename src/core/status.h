// Errors are values. Nothing in src/ throws, aborts or prints: a fallible call returns a Status, or a
// Result<T> that holds either a T or a Status. The TypeScript edge turns a Status into an Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace id2vec {

// One line of meaning each. The names that JavaScript sees (`error.code`) come from code_name().
enum class Code : uint8_t {
  kOk,
  kNeedBytes,  // not an error: a sans-io reader wants a byte range that it was not handed yet
  kUnrecognised,  // nor is this: the file is of a container that this build has no reader for (common_readers.cpp)
  kTruncated,    // the file ends before what its header promises
  kMalformed,    // the file contradicts its own format
  kUnsupported,  // valid, but not a thing id2vec reads (a dtype, a version, a compression, a pickle global)
  kLimit,        // larger than a named limit
  kNotFound,     // no such tensor, role, file or token
  kAmbiguous,    // several candidates and no rule to choose between them
  kInvalidArgument,  // the caller's value is of the wrong kind or shape (a TypeError in JavaScript)
  kOutOfRange,       // the caller's id or index is outside its range (a RangeError in JavaScript)
  kOutOfMemory,      // the allocator said no
};

constexpr std::string_view code_name(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kNeedBytes: return "need-bytes";
    case Code::kUnrecognised: return "unrecognised";
    case Code::kTruncated: return "truncated";
    case Code::kMalformed: return "malformed";
    case Code::kUnsupported: return "unsupported";
    case Code::kLimit: return "limit";
    case Code::kNotFound: return "not-found";
    case Code::kAmbiguous: return "ambiguous";
    case Code::kInvalidArgument: return "invalid-argument";
    case Code::kOutOfRange: return "out-of-range";
    case Code::kOutOfMemory: return "out-of-memory";
  }
  return "unknown";
}

// One pointer, null for success: a fallible call costs its success path no more than a return value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  Status(const Status& other);
  Status(Status&& other) noexcept : failure_(std::exchange(other.failure_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(failure_, other.failure_);
    return *this;
  }
  ~Status() {
    if (failure_ != nullptr) release();
  }

  bool ok() const { return failure_ == nullptr; }
  Code code() const { return failure_ == nullptr ? Code::kOk : failure_->code; }
  // One sentence: what was wrong, where, and what to do about it. Empty for success.
  const std::string& message() const;

 private:
  struct Failure {
    Code code;
    std::string message;
  };
  void release();

  Failure* failure_ = nullptr;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }
  T& value() { return *value_; }
  const T& value() const { return *value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace id2vec

// `ID2VEC_RETURN_IF_ERROR(check());` leaves the enclosing function with the Status if it is not ok.
#define ID2VEC_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                         \
    if (::id2vec::Status status_or_ok = (expression); !status_or_ok.ok()) return status_or_ok; \
  } while (false)

// `ID2VEC_ASSIGN(const uint32_t version, read_u32());` declares a variable from a Result or leaves with its Status.
#define ID2VEC_ASSIGN(declaration, expression) ID2VEC_ASSIGN_(declaration, expression, __COUNTER__)
#define ID2VEC_ASSIGN_(declaration, expression, id) ID2VEC_ASSIGN_NAMED(declaration, expression, id)
#define ID2VEC_ASSIGN_NAMED(declaration, expression, id)         \
  auto result_##id = (expression);                               \
  if (!result_##id.ok()) return std::move(result_##id).status(); \
  declaration = std::move(result_##id.value())

#include "core/status.h"

namespace id2vec {

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) failure_ = new Failure{code, std::move(message)};
}

Status::Status(const Status& other) {
  if (other.failure_ != nullptr) failure_ = new Failure(*other.failure_);
}

void Status::release() { delete std::exchange(failure_, nullptr); }

const std::string& Status::message() const {
  static const std::string kNone;
  return failure_ == nullptr ? kNone : failure_->message;
}

}  // namespace id2vec

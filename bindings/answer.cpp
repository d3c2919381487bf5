#include "answer.h"

#include <cstdlib>
#include <cstring>

namespace id2vec {
namespace {

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

void Answer::put(double value) {
  bytes_ += 'n';
  append(bytes_, value);
}

void Answer::put(std::string_view text) {
  bytes_ += 't';
  append(bytes_, static_cast<uint32_t>(text.size()));
  bytes_ += text;
}

uint8_t* Answer::release() const {
  const auto length = static_cast<uint32_t>(bytes_.size());
  auto* copy = static_cast<uint8_t*>(std::malloc(sizeof length + length));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, &length, sizeof length);
  std::memcpy(copy + sizeof length, bytes_.data(), length);
  return copy;
}

}  // namespace id2vec

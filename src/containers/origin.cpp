#include "containers/origin.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "core/text.h"

namespace id2vec {
namespace {

template <class T>
void put(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class List>
void put_list(std::string& out, const List& list) {
  put(out, uint64_t{list.size()});
  out.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(*list.data()));
}

void put(std::string& out, const std::string& text) { put_list(out, text); }

template <class T>
void put(std::string& out, const std::vector<T>& list) {
  put_list(out, list);
}

void put(std::string& out, const std::vector<std::string>& list) {
  put(out, uint64_t{list.size()});
  for (const std::string& text : list) put(out, text);
}

void put(std::string& out, const LongArray& array) {
  put(out, array.length);
  put(out, array.type);
  put(out, array.bytes);
}

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  // False from the first thing on that is not there; what it should have filled stays as it was.
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

  template <class T>
  void get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (take(sizeof value)) std::memcpy(&value, taken_.data(), sizeof value);
  }

  void get(std::string& text) { get_list(text); }

  template <class T>
  void get(std::vector<T>& list) {
    get_list(list);
  }

  void get(std::vector<std::string>& list) {
    for (uint64_t count = length(sizeof(uint64_t)); count > 0 && ok_; --count) get(list.emplace_back());
  }

  void get(LongArray& array) {
    get(array.length);
    get(array.type);
    get(array.bytes);
  }

  // How many things of at least `least_bytes` each follow.
  uint64_t length(size_t least_bytes) {
    uint64_t count = 0;
    get(count);
    if (count > rest_.size() / least_bytes) ok_ = false;
    return ok_ ? count : 0;
  }

 private:
  bool take(size_t bytes) {
    ok_ = ok_ && bytes <= rest_.size();
    if (!ok_) return false;
    taken_ = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return true;
  }

  template <class List>
  void get_list(List& list) {
    constexpr size_t kBytes = sizeof(*list.data());
    const uint64_t count = length(kBytes);
    if (!take(count * kBytes)) return;
    list.resize(count);
    if (count > 0) std::memcpy(list.data(), taken_.data(), taken_.size());
  }

  std::string_view rest_, taken_;
  bool ok_ = true;
};

// The value of the type that has this index in MetadataValue.
template <size_t... kIndices>
MetadataValue get_value(Unpacker& from, size_t index, std::index_sequence<kIndices...>) {
  MetadataValue value;
  ((index == kIndices ? from.get(value.emplace<kIndices>()) : void()), ...);
  return value;
}

}  // namespace

std::string pack_origin(const Directory& source) {
  std::string out;
  put(out, uint64_t{source.metadata.size()});
  for (const auto& [key, value] : source.metadata) {
    put(out, key);
    put(out, static_cast<uint8_t>(value.index()));
    std::visit([&](const auto& it) { put(out, it); }, value);
  }
  const Vocabulary& vocabulary = source.vocabulary;
  put(out, vocabulary.text);
  put(out, vocabulary.offsets);
  put(out, vocabulary.scores);
  put(out, vocabulary.types);
  return out;
}

Status unpack_origin(std::string_view bytes, Directory& to) {
  constexpr std::make_index_sequence<std::variant_size_v<MetadataValue>> kIndices;
  Unpacker from(bytes);
  to.metadata.clear();
  for (uint64_t count = from.length(sizeof(uint64_t) + 1); count > 0 && from.ok(); --count) {
    std::string key;
    uint8_t index = 0;
    from.get(key);
    from.get(index);
    to.metadata.insert_or_assign(std::move(key), get_value(from, index, kIndices));
  }
  Vocabulary& vocabulary = to.vocabulary = {};
  from.get(vocabulary.text);
  from.get(vocabulary.offsets);
  from.get(vocabulary.scores);
  from.get(vocabulary.types);
  if (from.ok() && from.at_end()) return {};
  return fail(Code::kMalformed, "What a model says of itself was handed over broken.");
}

}  // namespace id2vec

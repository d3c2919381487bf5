#include "containers/pickle_flatten.h"

#include "containers/limits.h"
#include "core/text.h"

namespace id2vec {
namespace {

using Kind = PickleValue::Kind;

class Flattener {
 public:
  Flattener(std::string_view where, const Pickle& pickle)
      : where_(where), pickle_(pickle), entered_(pickle.values.size()) {}

  Status visit(PickleRef ref, size_t depth) {
    const PickleValue& value = pickle_[ref];
    if (value.kind == Kind::kCall) return visit_call(ref, depth);
    if (value.kind != Kind::kDict && value.kind != Kind::kSequence) return {};
    if (entered_[ref]) return {};
    entered_[ref] = true;
    if (depth > limits::kPickleDepth) {
      return fail(Code::kLimit, where_, ": containers are nested more than ", limits::kPickleDepth,
                  " deep at ", quoted(name_));
    }
    return value.kind == Kind::kDict ? visit_pairs(value, depth) : visit_items(value, depth);
  }

  std::vector<NamedCall> take() { return std::move(tensors_); }

 private:
  Status visit_call(PickleRef ref, size_t depth) {
    const PickleValue& call = pickle_[ref];
    switch (pickle_[call.items[0]].global) {
      case PickleGlobal::kRebuildTensor:
      case PickleGlobal::kRebuildTensorV3: return add(ref);
      case PickleGlobal::kRebuildParameter: {
        const std::vector<PickleRef>& arguments = pickle_[call.items[1]].items;
        // A parameter of a parameter of …: one level is all that PyTorch writes.
        if (arguments.empty() || depth > limits::kPickleDepth) return {};
        return visit(arguments[0], depth + 1);
      }
      default: return {};
    }
  }

  Status add(PickleRef ref) {
    name_bytes_ += name_.size();
    if (tensors_.size() >= limits::kTensors) {
      return fail(Code::kLimit, where_, ": more than ", limits::kTensors, " tensors");
    }
    if (name_bytes_ > (uint64_t{64} << 10) + limits::kPickleNameRatio * pickle_.bytes) {
      return fail(Code::kLimit, where_, ": the names of its tensors take more than ",
                  limits::kPickleNameRatio, " times the bytes of the pickle");
    }
    tensors_.push_back({name_, ref});
    return {};
  }

  // Visits `child` under a longer name.
  Status descend(std::string_view key, PickleRef child, size_t depth) {
    const size_t length = name_.size();
    if (length + 1 + key.size() > limits::kNameBytes) {
      return fail(Code::kLimit, where_, ": a tensor's name is longer than ", limits::kNameBytes,
                  " bytes: ", quoted(name_), " …");
    }
    if (depth > 0) name_ += '.';
    name_ += key;
    const Status status = visit(child, depth + 1);
    name_.resize(length);
    return status;
  }

  Status visit_pairs(const PickleValue& dict, size_t depth) {
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const PickleValue& key = pickle_[dict.items[i]];
      if (key.kind == Kind::kText) {
        ID2VEC_RETURN_IF_ERROR(descend(key.text, dict.items[i + 1], depth));
      } else if (key.kind == Kind::kInt) {
        ID2VEC_RETURN_IF_ERROR(descend(concat(key.integer), dict.items[i + 1], depth));
      }
    }
    return {};
  }

  Status visit_items(const PickleValue& sequence, size_t depth) {
    for (size_t i = 0; i < sequence.items.size(); ++i) {
      ID2VEC_RETURN_IF_ERROR(descend(concat(i), sequence.items[i], depth));
    }
    return {};
  }

  std::string_view where_;
  const Pickle& pickle_;
  std::vector<bool> entered_;
  std::string name_;
  uint64_t name_bytes_ = 0;
  std::vector<NamedCall> tensors_;
};

}  // namespace

Result<std::vector<NamedCall>> flatten_tensors(std::string_view where, const Pickle& pickle) {
  Flattener flattener(where, pickle);
  ID2VEC_RETURN_IF_ERROR(flattener.visit(pickle.root, 0));
  return flattener.take();
}

}  // namespace id2vec

// Python pickles (protocols 1 to 5) as inert data: an interpreter that builds values and calls nothing.
//
// A pickle is a program for a stack machine whose REDUCE instruction calls any importable function. Here a
// global is a row of a fixed list (what torch.save writes for tensors, and a few harmless types that stand
// beside them in checkpoints), and a call is remembered as a value {callable, arguments}. Everything else is
// refused by name. Values live in one array and refer to each other by index, so cycles and depth cost
// nothing; memory is proportional to the pickle's own bytes and bounded by limits::kPickleValues.
#pragma once

#include <string_view>
#include <vector>

#include "core/bytes.h"
#include "core/status.h"

namespace id2vec {

// What a global of the list means to a reader of tensors.
enum class PickleGlobal : uint8_t {
  kRebuildTensor,     // (storage, storage_offset, size, stride, …)
  kRebuildTensorV3,   // the same, then requires_grad, hooks, dtype
  kRebuildParameter,  // (tensor, …)
  kStorage,           // a typed storage class, named after its dtype: torch.FloatStorage
  kUntypedStorage,    // bytes
  kDtype,             // torch.float32
  kDict,              // collections.OrderedDict and friends
  kSequence,          // a callable that returns its one argument as it is: torch.Size, set
  kOpaque,            // harmless, of no interest: torch.device
};

using PickleRef = uint32_t;  // index into Pickle::values

struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,        // integer
    kInt,         // integer
    kBigInt,      // text: little-endian two's complement of more than 8 bytes, or (protocol 1) decimal digits
    kFloat,       // no value kept
    kText,        // text: UTF-8, or the bytes of a bytes object
    kSequence,    // items: a tuple, list or set
    kDict,        // items: key, value, key, value, …
    kGlobal,      // global, text (its name without the module)
    kPersistent,  // items: [id]
    kCall,        // items: [callable, arguments]
  };
  Kind kind = Kind::kNone;
  PickleGlobal global = PickleGlobal::kOpaque;
  int64_t integer = 0;
  std::string_view text;  // points into the pickle's bytes
  std::vector<PickleRef> items;
};

struct Pickle {
  std::vector<PickleValue> values;
  PickleRef root = 0;
  size_t bytes = 0;  // up to and with its STOP

  const PickleValue& operator[](PickleRef ref) const { return values[ref]; }
};

// Interprets the pickle at the start of `bytes`; `where` names it in errors. kTruncated if it has no end in
// `bytes`; kUnsupported names a global that is not on the list, or an instruction of protocol 0 (where
// persistent ids are lines of text; those of torch.save are tuples).
Result<Pickle> read_pickle(std::string_view where, Bytes bytes);

}  // namespace id2vec

#include "containers/pickle_globals.h"

namespace id2vec {
namespace {

struct Row {
  std::string_view module, name;
  PickleGlobal meaning;
};

constexpr Row kRows[] = {
    {"torch._utils", "_rebuild_tensor", PickleGlobal::kRebuildTensor},
    {"torch._utils", "_rebuild_tensor_v2", PickleGlobal::kRebuildTensor},
    {"torch._utils", "_rebuild_tensor_v3", PickleGlobal::kRebuildTensorV3},
    {"torch._utils", "_rebuild_parameter", PickleGlobal::kRebuildParameter},
    {"torch._utils", "_rebuild_parameter_with_state", PickleGlobal::kRebuildParameter},
    {"torch", "UntypedStorage", PickleGlobal::kUntypedStorage},
    {"torch.storage", "UntypedStorage", PickleGlobal::kUntypedStorage},
    {"torch.storage", "_UntypedStorage", PickleGlobal::kUntypedStorage},
    {"torch.storage", "TypedStorage", PickleGlobal::kUntypedStorage},
    {"torch.storage", "_TypedStorage", PickleGlobal::kUntypedStorage},
    {"torch", "Size", PickleGlobal::kSequence},
    {"torch", "device", PickleGlobal::kOpaque},
    {"torch", "strided", PickleGlobal::kOpaque},
    {"torch.serialization", "_get_layout", PickleGlobal::kOpaque},
    {"collections", "OrderedDict", PickleGlobal::kDict},
    {"collections", "defaultdict", PickleGlobal::kDict},
    {"builtins", "dict", PickleGlobal::kDict},
    {"__builtin__", "dict", PickleGlobal::kDict},
    {"builtins", "set", PickleGlobal::kSequence},
    {"__builtin__", "set", PickleGlobal::kSequence},
    {"builtins", "list", PickleGlobal::kSequence},
    {"__builtin__", "list", PickleGlobal::kSequence},
    {"collections", "Counter", PickleGlobal::kOpaque},
    {"_codecs", "encode", PickleGlobal::kOpaque},
    {"numpy", "dtype", PickleGlobal::kOpaque},
    {"numpy", "ndarray", PickleGlobal::kOpaque},
    {"numpy.core.multiarray", "scalar", PickleGlobal::kOpaque},
    {"numpy._core.multiarray", "scalar", PickleGlobal::kOpaque},
    {"numpy.core.multiarray", "_reconstruct", PickleGlobal::kOpaque},
    {"numpy._core.multiarray", "_reconstruct", PickleGlobal::kOpaque},
};

// Classes torch.FloatStorage … torch.QUInt4x2Storage, by their names before "Storage".
constexpr std::string_view kStorages[] = {
    "Double", "Float",         "Half",  "BFloat16", "Long",   "Int",      "Short",    "Char",        "Byte",
    "Bool",   "ComplexDouble", "QInt8", "QUInt8",   "QInt32", "QUInt4x2", "QUInt2x4", "ComplexFloat"};

constexpr std::string_view kDtypes[] = {"float64",
                                        "double",
                                        "float32",
                                        "float",
                                        "float16",
                                        "half",
                                        "bfloat16",
                                        "int64",
                                        "long",
                                        "int32",
                                        "int",
                                        "int16",
                                        "short",
                                        "int8",
                                        "uint8",
                                        "uint16",
                                        "uint32",
                                        "uint64",
                                        "bool",
                                        "complex32",
                                        "complex64",
                                        "complex128",
                                        "float8_e4m3fn",
                                        "float8_e5m2",
                                        "float8_e4m3fnuz",
                                        "float8_e5m2fnuz",
                                        "float8_e8m0fnu"};

}  // namespace

std::optional<PickleGlobal> pickle_global(std::string_view module, std::string_view name) {
  for (const Row& row : kRows) {
    if (row.module == module && row.name == name) return row.meaning;
  }
  if (module != "torch") return std::nullopt;
  for (const std::string_view dtype : kDtypes) {
    if (dtype == name) return PickleGlobal::kDtype;
  }
  constexpr std::string_view kSuffix = "Storage";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  for (const std::string_view storage : kStorages) {
    if (storage == name) return PickleGlobal::kStorage;
  }
  return std::nullopt;
}

}  // namespace id2vec

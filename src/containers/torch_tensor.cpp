#include "containers/torch_tensor.h"

#include <algorithm>

#include "containers/pickle_flatten.h"
#include "containers/strided.h"
#include "core/bytes.h"
#include "core/text.h"

namespace id2vec {
namespace {

using Kind = PickleValue::Kind;

struct TorchType {
  std::string_view storage;  // torch.<storage>Storage; empty: none
  std::string_view dtype;    // torch.<dtype>
  std::string_view alias;
  std::string_view name;     // as in the catalog
  uint32_t bytes;
};

constexpr TorchType kTypes[] = {
    {"Float", "float32", "float", "F32", 4},
    {"Half", "float16", "half", "F16", 2},
    {"BFloat16", "bfloat16", "", "BF16", 2},
    {"Double", "float64", "double", "F64", 8},
    {"Char", "int8", "", "I8", 1},
    {"Byte", "uint8", "", "U8", 1},
    {"Short", "int16", "short", "I16", 2},
    {"Int", "int32", "int", "I32", 4},
    {"Long", "int64", "long", "I64", 8},
    {"Bool", "bool", "", "BOOL", 1},
    {"", "uint16", "", "U16", 2},
    {"", "uint32", "", "U32", 4},
    {"", "uint64", "", "U64", 8},
    {"", "float8_e4m3fn", "", "F8_E4M3", 1},
    {"", "float8_e5m2", "", "F8_E5M2", 1},
    {"", "float8_e4m3fnuz", "", "float8_e4m3fnuz", 1},
    {"", "float8_e5m2fnuz", "", "float8_e5m2fnuz", 1},
    {"", "float8_e8m0fnu", "", "float8_e8m0fnu", 1},
    {"", "complex32", "", "complex32", 4},
    {"ComplexFloat", "complex64", "", "complex64", 8},
    {"ComplexDouble", "complex128", "", "complex128", 16},
    {"QInt8", "", "", "qint8", 1},
    {"QUInt8", "", "", "quint8", 1},
    {"QInt32", "", "", "qint32", 4},
    {"QUInt4x2", "", "", "quint4x2", 1},
    {"QUInt2x4", "", "", "quint2x4", 1},
};

const TorchType* type_of(const PickleValue& global) {
  std::string_view name = global.text;
  if (global.global == PickleGlobal::kUntypedStorage) name = "uint8";
  if (global.global == PickleGlobal::kStorage) name.remove_suffix(std::string_view("Storage").size());
  for (const TorchType& type : kTypes) {
    const bool storage = global.global == PickleGlobal::kStorage;
    if (storage ? type.storage == name : (type.dtype == name || type.alias == name)) return &type;
  }
  return nullptr;
}

std::optional<uint64_t> natural(const Pickle& pickle, PickleRef ref) {
  const PickleValue& value = pickle[ref];
  if (value.kind != Kind::kInt || value.integer < 0) return std::nullopt;
  return static_cast<uint64_t>(value.integer);
}

std::optional<std::vector<uint64_t>> naturals(const Pickle& pickle, PickleRef ref) {
  if (pickle[ref].kind != Kind::kSequence) return std::nullopt;
  std::vector<uint64_t> numbers;
  for (const PickleRef item : pickle[ref].items) {
    const std::optional<uint64_t> number = natural(pickle, item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

class Builder {
 public:
  Builder(std::string_view where, const Pickle& pickle, TorchStorages& storages, bool big_endian,
          Directory& directory)
      : where_(where), pickle_(pickle), storages_(storages), big_endian_(big_endian), directory_(directory) {}

  Status add(NamedCall named) {
    Tensor tensor;
    tensor.name = std::move(named.name);
    const Status status = fill(tensor, pickle_[named.call]);
    if (status.code() == Code::kUnsupported) {
      directory_.skipped.push_back(status.message());
      return {};
    }
    ID2VEC_RETURN_IF_ERROR(status);
    directory_.tensors.push_back(std::move(tensor));
    return {};
  }

 private:
  Status broken(const Tensor& tensor, auto... parts) const {
    return fail(Code::kMalformed, where_, ": tensor ", quoted(tensor.name), " ", parts...);
  }

  Status fill(Tensor& tensor, const PickleValue& call) {
    const bool has_dtype = pickle_[call.items[0]].global == PickleGlobal::kRebuildTensorV3;
    const std::vector<PickleRef>& arguments = pickle_[call.items[1]].items;
    if (arguments.size() < (has_dtype ? 7 : 4)) return broken(tensor, "is rebuilt from too few arguments");
    const std::optional<TorchStorage> storage = torch_storage(pickle_, arguments[0]);
    const std::optional<uint64_t> offset = natural(pickle_, arguments[1]);
    std::optional<std::vector<uint64_t>> shape = naturals(pickle_, arguments[2]);
    std::optional<std::vector<uint64_t>> strides = naturals(pickle_, arguments[3]);
    if (!storage || !offset || !shape || !strides)
      return broken(tensor, "is rebuilt from arguments of other kinds");
    tensor.shape = std::move(*shape);
    ID2VEC_RETURN_IF_ERROR(set_dtype(tensor, *storage, has_dtype ? &pickle_[arguments[6]] : nullptr));
    ID2VEC_RETURN_IF_ERROR(set_strides(where_, tensor, std::move(*strides)));
    return place(tensor, *storage, *offset);
  }

  Status set_dtype(Tensor& tensor, const TorchStorage& storage, const PickleValue* dtype) {
    std::string_view name = storage.dtype;
    if (dtype != nullptr) {
      const TorchType* type =
          dtype->kind == Kind::kGlobal && dtype->global == PickleGlobal::kDtype ? type_of(*dtype) : nullptr;
      if (type == nullptr) return broken(tensor, "has no dtype");
      name = type->name;
    }
    tensor.dtype = dtype_by_name(name);
    if (tensor.dtype == nullptr) {
      return fail(Code::kUnsupported, where_, ": tensor ", quoted(tensor.name), " is of the type ", name,
                  ", which id2vec does not read");
    }
    tensor.big_endian = big_endian_ && tensor.dtype->block_bytes > 1;
    return {};
  }

  Status place(Tensor& tensor, const TorchStorage& storage, uint64_t offset) {
    ID2VEC_ASSIGN(const TorchBytes place, storages_.find(storage));
    const std::optional<uint64_t> start = checked_mul(offset, tensor.dtype->block_bytes);
    const std::optional<uint64_t> view = checked_mul(storage.view_offset, storage.item_bytes);
    const std::optional<uint64_t> from = start && view ? checked_add(*start, *view) : std::nullopt;
    const std::optional<uint64_t> to = from ? checked_add(*from, tensor.bytes) : std::nullopt;
    if (!to || *to > place.bytes) {
      return broken(tensor, "is a view of ", tensor.bytes, " bytes, ", offset, " elements into storage ",
                    quoted(storage.key), ", which has only ", place.bytes, " bytes");
    }
    tensor.file = place.file;
    tensor.offset = place.offset + *from;
    return {};
  }

  std::string_view where_;
  const Pickle& pickle_;
  TorchStorages& storages_;
  bool big_endian_;
  Directory& directory_;
};

// The root itself is a tensor: named after its file, as numpy users know it from .npy files.
std::string stem(std::string_view file) {
  file = file.substr(file.rfind('/') + 1);
  const size_t dot = file.rfind('.');
  return std::string(dot == file.npos || dot == 0 ? file : file.substr(0, dot));
}

}  // namespace

std::optional<TorchStorage> torch_storage(const Pickle& pickle, PickleRef persistent) {
  if (pickle[persistent].kind != Kind::kPersistent) return std::nullopt;
  const std::vector<PickleRef>& id = pickle[pickle[persistent].items[0]].items;
  if (id.size() < 5 || pickle[id[0]].text != "storage" || pickle[id[1]].kind != Kind::kGlobal)
    return std::nullopt;
  const TorchType* type = type_of(pickle[id[1]]);
  const std::optional<uint64_t> count = natural(pickle, id[4]);
  if (type == nullptr || !count || pickle[id[2]].kind != Kind::kText) return std::nullopt;
  TorchStorage storage{pickle[id[2]].text, type->name, type->bytes, *count, 0, *count};
  if (id.size() > 5 && pickle[id[5]].kind != Kind::kNone) {
    const std::vector<PickleRef>& view = pickle[id[5]].items;  // (key, offset, count)
    if (view.size() != 3) return std::nullopt;
    const std::optional<uint64_t> offset = natural(pickle, view[1]), view_count = natural(pickle, view[2]);
    if (!offset || !view_count) return std::nullopt;
    storage.view_offset = *offset;
    storage.view_count = *view_count;
  }
  return storage;
}

Status add_torch_tensors(std::string_view where, const Pickle& pickle, TorchStorages& storages,
                         bool big_endian, Directory& directory) {
  ID2VEC_ASSIGN(std::vector<NamedCall> calls, flatten_tensors(where, pickle));
  Builder builder(where, pickle, storages, big_endian, directory);
  for (NamedCall& named : calls) {
    if (named.name.empty()) named.name = stem(where);
    ID2VEC_RETURN_IF_ERROR(builder.add(std::move(named)));
  }
  if (directory.tensors.empty()) {
    return fail(Code::kUnsupported, directory.skipped.empty()
                                        ? concat(where, ": this checkpoint holds no tensors")
                                        : directory.skipped.front());
  }
  return check_unique_names(where, directory.tensors);
}

}  // namespace id2vec

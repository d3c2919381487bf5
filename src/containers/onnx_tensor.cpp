#include "containers/onnx_tensor.h"

#include <algorithm>

#include "containers/limits.h"
#include "core/text.h"

namespace id2vec {
namespace {

// Fields of TensorProto.
enum Field : uint32_t {
  kDims = 1,
  kType = 2,
  kSegment = 3,
  kFloats = 4,
  kInt32s = 5,
  kStrings = 6,
  kInt64s = 7,
  kName = 8,
  kRaw = 9,
  kDoubles = 10,
  kUint64s = 11,
  kExternal = 13,
  kLocation = 14,
};

struct OnnxType {
  uint32_t number;        // TensorProto.DataType
  std::string_view name;  // in the catalog
  Field typed;            // the field that holds elements where there is no raw_data
  uint32_t packed_bits = 0;
  bool packed_signed = false;
};

constexpr OnnxType kTypes[] = {
    {1, "F32", kFloats},           {2, "U8", kInt32s},           {3, "I8", kInt32s},
    {4, "U16", kInt32s},           {5, "I16", kInt32s},          {6, "I32", kInt32s},
    {7, "I64", kInt64s},           {9, "BOOL", kInt32s},         {10, "F16", kInt32s},
    {11, "F64", kDoubles},         {12, "U32", kUint64s},        {13, "U64", kUint64s},
    {16, "BF16", kInt32s},         {17, "F8_E4M3", kInt32s},     {19, "F8_E5M2", kInt32s},
    {21, "U8", kInt32s, 4, false}, {22, "U8", kInt32s, 4, true}, {25, "U8", kInt32s, 2, false},
    {26, "U8", kInt32s, 2, true},
};

const OnnxType* type_of(uint64_t number) {
  for (const OnnxType& type : kTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

std::optional<uint64_t> decimal(std::string_view text) {
  std::optional<uint64_t> value = text.empty() ? std::nullopt : std::optional<uint64_t>(0);
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = checked_mul(*value, 10);
    if (value) value = checked_add(*value, static_cast<uint64_t>(c - '0'));
    if (!value) return std::nullopt;
  }
  return value;
}

// From elements to the bytes that hold `per_byte` of them each.
void count_bytes(Tensor& tensor, uint64_t per_byte) {
  const uint64_t elements = tensor.bytes;
  tensor.bytes = elements / per_byte + (elements % per_byte != 0);
  if (!tensor.shape.empty() && tensor.shape.back() % per_byte == 0) {
    tensor.shape.back() /= per_byte;
  } else {
    tensor.shape = {tensor.bytes};
  }
}

}  // namespace

// What a TensorProto holds, before it is understood.
struct OnnxTensors::Parts {
  std::vector<uint64_t> dims;
  std::string_view name;
  uint64_t type = 0;
  bool segment = false, is_external = false, has_raw = false;
  ProtoRange message, raw;
  std::string location;
  std::optional<uint64_t> offset, length;
  ProtoRange packed_floats;  // float_data or double_data in one packed run
  size_t typed_fields = 0;   // fields with elements
};

Status OnnxTensors::broken(const Tensor& tensor, std::string_view what) const {
  return fail(Code::kMalformed, proto_.name(), ": initializer ", quoted(tensor.name), " ", what);
}

const OnnxPacked* OnnxTensors::packed(std::string_view tensor) const {
  const auto found = packed_.find(tensor);
  return found == packed_.end() ? nullptr : &found->second;
}

Status OnnxTensors::add(ProtoRange range, std::string_view name) {
  if (directory_.tensors.size() + directory_.skipped.size() >= limits::kTensors) {
    return fail(Code::kLimit, proto_.name(), ": more than ", limits::kTensors, " initializers");
  }
  Parts parts;
  ID2VEC_RETURN_IF_ERROR(parse(range, parts));
  if (parts.name.empty()) parts.name = name;
  Tensor tensor;
  tensor.name = parts.name.substr(0, limits::kNameBytes);
  const OnnxType* type = type_of(parts.type);
  if (type != nullptr) tensor.dtype = dtype_by_name(type->name);
  if (tensor.dtype == nullptr || parts.segment) {
    directory_.skipped.push_back(concat(proto_.name(), ": initializer ", quoted(tensor.name),
                                        " has the ONNX type ", parts.type, ", which id2vec does not read"));
    return {};
  }
  tensor.shape = parts.dims;
  ID2VEC_ASSIGN(tensor.bytes, tensor_bytes(proto_.name(), tensor));
  if (type->packed_bits != 0) {
    packed_.emplace(tensor.name, OnnxPacked{type->packed_bits, type->packed_signed, tensor.shape});
    count_bytes(tensor, 8 / type->packed_bits);
  }
  ID2VEC_RETURN_IF_ERROR(place(parts, tensor));
  directory_.tensors.push_back(std::move(tensor));
  return {};
}

Status OnnxTensors::parse(ProtoRange rest, Parts& parts) {
  parts.message = rest;
  const auto add_dim = [&](uint64_t size) {
    if (parts.dims.size() >= limits::kDimensions) {
      return fail(Code::kLimit, proto_.name(), ": an initializer has more than ", limits::kDimensions,
                  " dimensions");
    }
    parts.dims.push_back(size);  // a negative one wraps to a size that no file can hold
    return Status();
  };
  while (rest.length > 0) {
    ProtoRange payload;
    ID2VEC_ASSIGN(const ProtoField field, proto_.next(rest, payload));
    const bool bytes = field.wire == ProtoField::kBytes;
    if (field.number == kDims && !bytes) {
      ID2VEC_RETURN_IF_ERROR(add_dim(field.value));
    } else if (field.number == kDims) {
      ID2VEC_ASSIGN(Bytes packed, proto_.read(payload));
      while (!packed.empty()) {
        const std::optional<uint64_t> size = take_varint(packed);
        if (!size) return fail(Code::kMalformed, proto_.name(), ": an initializer has broken dimensions");
        ID2VEC_RETURN_IF_ERROR(add_dim(*size));
      }
    } else if (field.number == kType && !bytes) {
      parts.type = field.value;
    } else if (field.number == kSegment) {
      parts.segment = true;
    } else if (field.number == kName && bytes) {
      ID2VEC_ASSIGN(const Bytes name, proto_.read(payload));
      parts.name = {reinterpret_cast<const char*>(name.data()), name.size()};
    } else if (field.number == kRaw && bytes) {
      parts.has_raw = true;
      parts.raw = payload;
    } else if (field.number == kLocation && !bytes) {
      parts.is_external = field.value == 1;
    } else if (field.number == kExternal && bytes) {
      ID2VEC_ASSIGN(const Bytes entry, proto_.read(payload));
      std::string_view key, value;
      for (ProtoMessage pair(entry); pair.next();) {
        if (pair.field().number == 1) key = pair.text();
        if (pair.field().number == 2) value = pair.text();
      }
      if (key == "location") parts.location = value;
      if (key == "offset" && !(parts.offset = decimal(value))) {
        return fail(Code::kMalformed, proto_.name(), ": the external offset ", quoted(value),
                    " is no number");
      }
      if (key == "length" && !(parts.length = decimal(value))) {
        return fail(Code::kMalformed, proto_.name(), ": the external length ", quoted(value),
                    " is no number");
      }
    } else if (field.number == kFloats || field.number == kInt32s || field.number == kInt64s ||
               field.number == kDoubles || field.number == kUint64s) {
      ++parts.typed_fields;
      if (bytes && (field.number == kFloats || field.number == kDoubles)) parts.packed_floats = payload;
    }
  }
  return {};
}

Status OnnxTensors::place(const Parts& parts, Tensor& tensor) {
  if (parts.is_external) return place_external(parts, tensor);
  if (!parts.has_raw) return place_typed(parts, tensor);
  if (parts.raw.length != tensor.bytes) {
    return broken(tensor,
                  concat("has ", parts.raw.length, " bytes of raw_data, but its shape needs ", tensor.bytes));
  }
  tensor.offset = parts.raw.offset;
  return {};
}

Status OnnxTensors::place_external(const Parts& parts, Tensor& tensor) {
  if (!is_sibling_name(parts.location)) {
    return broken(tensor,
                  concat("lies in ", quoted(parts.location), ", which is not a file beside the model"));
  }
  const Result<uint64_t> size = files_.size(parts.location);
  if (size.status().code() == Code::kNotFound) {
    return fail(Code::kNotFound, proto_.name(), ": its weights lie in ", quoted(parts.location),
                ", which is missing; put that file beside the model");
  }
  if (!size.ok()) return size.status();
  const uint64_t offset = parts.offset.value_or(0), length = parts.length.value_or(tensor.bytes);
  if (length != tensor.bytes) {
    return broken(tensor,
                  concat("has ", length, " bytes of external data, but its shape needs ", tensor.bytes));
  }
  if (offset > size.value() || length > size.value() - offset) {
    return fail(Code::kTruncated, proto_.name(), ": initializer ", quoted(tensor.name), " ends at byte ",
                offset, " + ", length, " of ", quoted(parts.location), ", which has only ", size.value(),
                " bytes; download it again");
  }
  tensor.file = directory_.file_index(parts.location);
  tensor.offset = offset;
  return {};
}

// Elements in typed fields. One packed run of floats or doubles is a byte range like raw_data; everything else
// is decoded.
Status OnnxTensors::place_typed(const Parts& parts, Tensor& tensor) {
  const Field number = type_of(parts.type)->typed;
  const bool floats = number == kFloats || number == kDoubles;
  if (floats && parts.typed_fields == 1 && parts.packed_floats.length == tensor.bytes) {
    tensor.offset = parts.packed_floats.offset;
    return {};
  }
  // Every element takes a byte of the message at least: a larger shape needs no attempt.
  if (tensor.bytes / tensor.dtype->block_bytes > parts.message.length) {
    return broken(tensor, concat("has a shape of ", tensor.bytes, " bytes but no data for it"));
  }
  inline_bytes_ += tensor.bytes;
  if (inline_bytes_ > limits::kOnnxInlineBytes) {
    return fail(Code::kLimit, proto_.name(), ": its typed fields hold more than ", limits::kOnnxInlineBytes,
                " bytes; save the model with raw_data");
  }
  return decode(parts.message, number, tensor);
}

// Appends the elements of every field `number` in the message to inline_bytes.
Status OnnxTensors::decode(ProtoRange rest, uint32_t number, Tensor& tensor) {
  const size_t item = tensor.dtype->block_bytes;
  const bool floats = number == kFloats || number == kDoubles;
  tensor.inline_bytes.reserve(tensor.bytes);
  const auto append = [&](uint64_t value) {
    if (tensor.inline_bytes.size() + item > tensor.bytes) return false;
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);  // little-endian: the low bytes come first
    tensor.inline_bytes.insert(tensor.inline_bytes.end(), raw, raw + item);
    return true;
  };
  bool fits = true;
  while (rest.length > 0 && fits) {
    ProtoRange payload;
    ID2VEC_ASSIGN(const ProtoField field, proto_.next(rest, payload));
    if (field.number != number) continue;
    if (field.wire != ProtoField::kBytes) {
      fits = append(field.value);
      continue;
    }
    ID2VEC_ASSIGN(Bytes packed, proto_.read(payload));
    while (!packed.empty() && fits) {
      if (floats) {
        if (packed.size() < item) return broken(tensor, "has a broken float field");
        fits = append(item == 4 ? load_le<uint32_t>(packed.data()) : load_le<uint64_t>(packed.data()));
        packed = packed.subspan(item);
      } else {
        const std::optional<uint64_t> value = take_varint(packed);
        if (!value) return broken(tensor, "has a broken integer field");
        fits = append(*value);
      }
    }
  }
  if (fits && tensor.inline_bytes.size() == tensor.bytes) return {};
  return broken(tensor, concat("has more or fewer elements than its shape of ", tensor.bytes, " bytes"));
}

}  // namespace id2vec

#include "containers/npy.h"

#include "containers/limits.h"
#include "containers/npy_header.h"
#include "containers/strided.h"
#include "containers/zip.h"
#include "core/text.h"

namespace id2vec {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kEnding = ".npy";

struct NpyType {
  std::string_view code;  // kind and size of numpy's array-interface string
  std::string_view name;
};

// Complex numbers, texts and dates have no place in a table of floats.
constexpr NpyType kTypes[] = {{"f2", "F16"}, {"f4", "F32"}, {"f8", "F64"}, {"i1", "I8"},
                              {"i2", "I16"}, {"i4", "I32"}, {"i8", "I64"}, {"u1", "U8"},
                              {"u2", "U16"}, {"u4", "U32"}, {"u8", "U64"}, {"b1", "BOOL"}};

Status set_dtype(std::string_view where, std::string_view descr, Tensor& tensor) {
  if (descr.find('O') != descr.npos) {
    return fail(
        Code::kUnsupported, where,
        ": arrays of Python objects are pickles, and id2vec executes no pickle; save it again as numbers, "
        "with array.astype('float32')");
  }
  const char order = descr.empty() ? '\0' : descr.front();
  const std::string_view code = descr.substr(descr.empty() ? 0 : 1);
  if (order == '<' || order == '>' || order == '|' || order == '=') {
    for (const NpyType& type : kTypes) {
      if (type.code == code) tensor.dtype = dtype_by_name(type.name);
    }
  }
  if (tensor.dtype == nullptr) {
    return fail(Code::kUnsupported, where, ": the dtype ", quoted(descr),
                " is not read; save floats, with array.astype('float32')");
  }
  tensor.big_endian = order == '>' && tensor.dtype->block_bytes > 1;
  return {};
}

std::vector<uint64_t> fortran_strides(const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> strides;
  uint64_t step = 1;
  for (const uint64_t size : shape) {
    strides.push_back(step);
    step *= size;  // cannot pass Π shape, which set_strides has to check: an overflow is found there
  }
  return strides;
}

// Where the elements start and how the header describes them.
struct Header {
  std::string_view text;
  uint64_t data_offset = 0;
};

// `file` holds an npy file at [offset, offset + size).
Result<Header> read_header(FileSet& files, std::string_view where, const ZipContent& at) {
  constexpr uint64_t kPreamble1 = 10, kPreamble2 = 12;
  if (at.size < kPreamble1)
    return fail(Code::kTruncated, where, ": an npy file has at least 10 bytes, this one ", at.size);
  ID2VEC_ASSIGN(Bytes bytes, files.read_between(at.file, at.offset, kPreamble1));
  if (std::string_view(reinterpret_cast<const char*>(bytes.data()), kMagic.size()) != kMagic) {
    return fail(Code::kMalformed, where, ": it does not start with the npy magic \\x93NUMPY");
  }
  const unsigned major = bytes[6], minor = bytes[7];
  if (major < 1 || major > 3 || minor != 0) {
    return fail(Code::kUnsupported, where, ": npy version ", major, ".", minor,
                " is not read, only 1.0, 2.0 and 3.0");
  }
  const uint64_t preamble = major == 1 ? kPreamble1 : kPreamble2;
  if (at.size < preamble)
    return fail(Code::kTruncated, where, ": the npy header breaks off after ", at.size, " bytes");
  ID2VEC_ASSIGN(bytes, files.read_between(at.file, at.offset, preamble));
  const uint64_t length = major == 1 ? load_le<uint16_t>(&bytes[8]) : load_le<uint32_t>(&bytes[8]);
  if (length > at.size - preamble) {
    return fail(Code::kTruncated, where, ": an npy header of ", length, " bytes in a file of ", at.size);
  }
  if (length > limits::kNpyHeaderBytes) {
    return fail(Code::kLimit, where, ": an npy header of ", length, " bytes, more than ",
                limits::kNpyHeaderBytes);
  }
  ID2VEC_ASSIGN(bytes, files.read_between(at.file, at.offset, preamble + length));
  return Header{{reinterpret_cast<const char*>(bytes.data()) + preamble, static_cast<size_t>(length)},
                preamble + length};
}

Result<Tensor> read_array(FileSet& files, std::string_view where, const ZipContent& at) {
  ID2VEC_ASSIGN(const Header header, read_header(files, where, at));
  ID2VEC_ASSIGN(NpyHeader parsed, parse_npy_header(where, header.text));
  Tensor tensor;
  ID2VEC_RETURN_IF_ERROR(set_dtype(where, parsed.descr, tensor));
  tensor.shape = std::move(parsed.shape);
  ID2VEC_ASSIGN(tensor.bytes, tensor_bytes(where, tensor));
  const uint64_t there = at.size - header.data_offset;
  if (tensor.bytes > there) {
    return fail(Code::kTruncated, where, ": its shape needs ", tensor.bytes, " bytes, but ", there,
                " follow the header; download it again");
  }
  if (parsed.fortran_order) ID2VEC_RETURN_IF_ERROR(set_strides(where, tensor, fortran_strides(tensor.shape)));
  tensor.offset = at.offset + header.data_offset;
  return tensor;
}

// "folder/words.npy" → "words"
std::string name_of(std::string_view path, bool keep_folder) {
  if (!keep_folder) path = path.substr(path.rfind('/') + 1);
  if (path.ends_with(kEnding) && path.size() > kEnding.size()) path.remove_suffix(kEnding.size());
  return std::string(path);
}

// Adds one entry of an npz; one that id2vec cannot use is only noted.
Status add_entry(FileSet& files, std::string_view file, const ZipEntry& entry, Directory& directory) {
  const std::string where = concat(file, ", ", entry.name);
  if (!entry.name.ends_with(kEnding)) {
    directory.skipped.push_back(concat(where, ": this entry is no .npy file"));
    return {};
  }
  ID2VEC_ASSIGN(const ZipContent content, zip_content(files, file, entry));
  Result<Tensor> tensor = read_array(files, where, content);
  if (tensor.status().code() == Code::kUnsupported) {
    directory.skipped.push_back(tensor.status().message());
    return {};
  }
  if (!tensor.ok()) return tensor.status();
  tensor.value().name = name_of(entry.name, true);
  if (entry.method != ZipEntry::kStored) {
    tensor.value().file = static_cast<uint32_t>(directory.files.size());
    directory.files.push_back(content.file);
  }
  directory.tensors.push_back(std::move(tensor.value()));
  return {};
}

}  // namespace

bool is_npy(Bytes head, uint64_t) {
  return head.size() >= kMagic.size() &&
         std::string_view(reinterpret_cast<const char*>(head.data()), kMagic.size()) == kMagic;
}

Result<Directory> read_npy(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const uint64_t size, files.size(file));
  ID2VEC_ASSIGN(Tensor tensor, read_array(files, file, {std::string(file), 0, size}));
  tensor.name = name_of(file, false);
  Directory directory;
  directory.container = "npy";
  directory.files.emplace_back(file);
  directory.tensors.push_back(std::move(tensor));
  return directory;
}

bool is_npz(Bytes head, uint64_t) { return first_zip_name(head).ends_with(kEnding); }

Result<Directory> read_npz(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const std::vector<ZipEntry> entries, read_zip(files, file));
  if (entries.size() > limits::kFiles) {
    return fail(Code::kLimit, file, ": an npz archive of ", entries.size(), " arrays, more than ",
                limits::kFiles);
  }
  Directory directory;
  directory.container = "npz";
  directory.files.emplace_back(file);
  for (const ZipEntry& entry : entries) ID2VEC_RETURN_IF_ERROR(add_entry(files, file, entry, directory));
  if (!directory.tensors.empty()) return directory;
  return fail(Code::kUnsupported, directory.skipped.empty() ? concat(file, ": this npz archive is empty")
                                                            : directory.skipped.front());
}

}  // namespace id2vec

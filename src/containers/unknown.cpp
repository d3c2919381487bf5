#include "containers/unknown.h"

#include "core/text.h"

namespace id2vec {
namespace {

struct Lookalike {
  size_t offset;
  std::string_view bytes;
  const char* sentence;
};

using namespace std::string_view_literals;

constexpr Lookalike kLookalikes[] = {
    {0, "version https://git-lfs.github.com/spec/",
     "this is a Git LFS pointer, not the model; fetch the real file"},
    {0, "lmgg"sv, "this is a GGML file from before GGUF; convert the model anew"},
    {0, "fmgg"sv, "this is a GGML file from before GGUF; convert the model anew"},
    {0, "tjgg"sv, "this is a GGML file from before GGUF; convert the model anew"},
    {0, "\x1f\x8b"sv, "this is gzip-compressed; unpack it first"},
    {0, "BZh"sv, "this is bzip2-compressed; unpack it first"},
    {0, "\xfd\x37zXZ"sv, "this is xz-compressed; unpack it first"},
    {0, "\x28\xb5\x2f\xfd"sv, "this is zstd-compressed; unpack it first"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "this is a 7z archive; unpack it first"},
    {0, "PK\x03\x04"sv, "this is a zip archive, but not one of PyTorch or numpy"},
    {257, "ustar"sv, "this is a tar archive; unpack it first"},
    {0, "\x89HDF\r\n\x1a\n"sv,
     "this is an HDF5 file (Keras), which is not read; save the model as safetensors"},
    {4, "TFL3"sv, "this is a TensorFlow Lite file, which is not read"},
    {0, "PAR1"sv, "this is a Parquet file, not a model"},
    {0, "%PDF"sv, "this is a PDF document, not a model"},
};

bool is_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

Status unknown_file(std::string_view file, Bytes head) {
  if (head.empty()) return fail(Code::kTruncated, file, ": the file is empty");
  std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const Lookalike& known : kLookalikes) {
    if (text.size() < known.offset || !text.substr(known.offset).starts_with(known.bytes)) continue;
    return fail(Code::kUnsupported, file, ": ", known.sentence);
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty() && is_space(static_cast<uint8_t>(text.front()))) text.remove_prefix(1);
  if (text.starts_with('<')) {
    return fail(Code::kUnsupported, file,
                ": this is an HTML page, not a model; check the address (is it a page about the file, or a "
                "sign-in page?)");
  }
  if (text.starts_with('{') || text.starts_with('[')) {
    return fail(
        Code::kUnsupported, file,
        ": this is JSON, but no index of shards (it has no \"weight_map\"); word vectors are read as text, a "
        "word and its numbers in a line, and not as JSON");
  }
  return fail(Code::kUnsupported, file,
              ": this is no model file that id2vec knows (GGUF, safetensors, PyTorch, npy, "
              "npz, ONNX)");
}

}  // namespace id2vec

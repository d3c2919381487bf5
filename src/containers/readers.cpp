#include "containers/gguf.h"
#include "containers/npy.h"
#include "containers/onnx.h"
#include "containers/pytorch.h"
#include "containers/reader.h"
#include "containers/safetensors.h"
#include "containers/shard_index.h"
#include "containers/unknown.h"

namespace id2vec {
namespace {

// Tried in this order: unmistakable magics first.
constexpr ContainerReader kReaders[] = {
    {"GGUF", is_gguf, read_gguf},
    {"safetensors", is_safetensors, read_safetensors, true},
    {"npz", is_npz, read_npz},
    {"PyTorch", is_pytorch_zip, read_pytorch_zip, true},
    {"npy", is_npy, read_npy},
    {"PyTorch (legacy)", is_pytorch_legacy, read_pytorch_legacy, true},
    {"shard index", is_shard_index, read_shard_index, true},
    {"ONNX", is_onnx, read_onnx, true},
};

}  // namespace

std::span<const ContainerReader> container_readers() { return kReaders; }

Status unrecognised_file(std::string_view file, Bytes head) { return unknown_file(file, head); }

}  // namespace id2vec

// The readers of a module that is to be small: those of the containers that most models on the web come in. It takes the
// place of readers.cpp; a file that is something else is for a module that has them all.
#include "containers/gguf.h"
#include "containers/reader.h"
#include "containers/safetensors.h"
#include "containers/shard_index.h"
#include "core/text.h"

namespace id2vec {
namespace {

constexpr ContainerReader kReaders[] = {
    {"GGUF", is_gguf, read_gguf},
    {"safetensors", is_safetensors, read_safetensors, true},
    {"shard index", is_shard_index, read_shard_index, true},
};

}  // namespace

std::span<const ContainerReader> container_readers() { return kReaders; }

Status unrecognised_file(std::string_view file, Bytes) {
  return fail(Code::kUnrecognised, file, ": this is neither GGUF nor safetensors");
}

}  // namespace id2vec

#include "containers/common_readers.h"

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
constexpr size_t kAtFirst = 1;

size_t readers_here = kAtFirst;

}  // namespace

void all_common_readers_are_here() { readers_here = std::size(kReaders); }

std::span<const ContainerReader> container_readers() { return std::span(kReaders).first(readers_here); }

Status unrecognised_file(std::string_view file, Bytes) {
  return fail(Code::kUnrecognised, file, ": this is neither GGUF nor safetensors");
}

}  // namespace id2vec

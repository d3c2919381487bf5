#include "tools/word_vectors_file.h"

#include "tools/gguf_writer.h"

namespace id2vec {

Result<FileLayout> word_vectors_layout(const WordVectors& words, std::string_view name) {
  Directory directory;
  directory.metadata["general.architecture"] = std::string("embedding");
  directory.metadata["general.name"] = std::string(name);
  directory.metadata["tokenizer.ggml.model"] = std::string("none");
  directory.vocabulary.text = words.text();
  directory.vocabulary.offsets.assign(words.starts().begin(), words.starts().end());
  Tensor table;
  table.name = "token_embd.weight";
  table.dtype = dtype_by_name("F32");
  table.shape = {words.size(), words.dim()};
  table.bytes = words.size() * words.dim() * sizeof(float);
  directory.tensors.push_back(std::move(table));
  return gguf_layout(directory);
}

}  // namespace id2vec

// The GGUF file that word vectors become: one F32 tensor "token_embd.weight" [V, d] and the tokens.
#pragma once

#include "tools/file_layout.h"
#include "tools/word_vectors.h"

namespace id2vec {

// After finish(). The rows stand at layout.offsets[0]. Safetensors has no place for tokens, hence GGUF.
Result<FileLayout> word_vectors_layout(const WordVectors& words, std::string_view name);

}  // namespace id2vec

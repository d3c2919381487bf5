// A model file decides nothing about memory beyond its own size: hostile files of about 200 bytes, with every
// allocation of the reader counted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "cpp/drive.h"
#include "cpp/gguf_builder.h"
#include "cpp/safetensors_builder.h"
#include "model/model.h"

namespace {
size_t allocated_bytes = 0;  // in all, freed or not
}  // namespace

void* operator new(size_t size) {
  allocated_bytes += size;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
// std::stable_sort asks in this way; without it such memory would come from elsewhere and end in the free() below.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  allocated_bytes += size;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace id2vec {
namespace {

constexpr size_t kFewMegabytes = size_t{2} << 20;

// Reads the whole model and says how many bytes were allocated on the way, what is held included.
size_t cost_of(const std::vector<uint8_t>& bytes) {
  FileSet files("m");
  files.set_size("m", bytes.size());
  std::ranges::copy(bytes, files.feed("m", 0, bytes.size()).value().begin());
  files.set_missing("config.json");
  allocated_bytes = 0;
  const Result<ModelPlan> plan = open_model(files, {});
  EXPECT_FALSE(plan.ok());
  EXPECT_NE(plan.status().code(), Code::kNeedBytes) << files.want().file;
  return allocated_bytes + files.held();
}

TEST(Memory, A200ByteFileCostsNoMore) {
  std::vector<std::vector<uint8_t>> hostile;
  for (const uint64_t huge :
       {uint64_t{1} << 20, uint64_t{1} << 30, uint64_t{1} << 40, UINT64_MAX / 13, UINT64_MAX}) {
    GgufBuilder tensors, metadata, text, array;
    tensors.tensor_count = huge;
    metadata.metadata_count = huge;
    text.raw("key", 8, [&](ByteWriter& w) { w.put(huge); });
    hostile.insert(hostile.end(), {tensors.build(), metadata.build(), text.build()});
    for (const char* key :
         {"key", "tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.ggml.token_type"}) {
      for (const uint32_t element : {0u, 5u, 6u, 8u, 12u}) {
        GgufBuilder gguf;
        gguf.raw(key, 9, [&](ByteWriter& w) { w.put(element).put(huge); });
        hostile.push_back(gguf.build());
      }
    }
    hostile.push_back(GgufBuilder().tensor({"token_embd.weight", {huge, 2}}).build());
    hostile.push_back(GgufBuilder().tensor({"token_embd.weight", {2, huge}}).build());
    ByteWriter length;
    length.put(huge).raw("{\"x\":{}}");
    hostile.push_back(length.bytes);
    hostile.push_back(safetensors_of("{\"x\":{\"dtype\":\"U8\",\"shape\":[" + std::to_string(huge) +
                                         "],\"data_offsets\":[0," + std::to_string(huge) + "]}}",
                                     8));
  }
  for (std::vector<uint8_t>& bytes : hostile) {
    bytes.resize(std::max<size_t>(bytes.size(), 200));
    EXPECT_LT(cost_of(bytes), kFewMegabytes);
  }
}

// The most entries that a file of some size can hold: memory stays a small multiple of the size.
TEST(Memory, GrowsWithTheFileOnly) {
  GgufBuilder metadata, tensors, tokens;
  for (int i = 0; i < 20'000; ++i)
    metadata.raw(std::to_string(i), 0, [](ByteWriter& w) { w.put<uint8_t>(0); });
  for (int i = 0; i < 20'000; ++i) tensors.tensor({std::to_string(i), {}, 24});
  tensors.tensors.back().offset = 8;  // no multiple of the alignment: an error at the very end
  tokens.texts("tokenizer.ggml.tokens", std::vector<std::string>(100'000));
  tokens.u32("general.alignment", 3);
  std::string names = "{";
  for (int i = 0; i < 20'000; ++i)
    names += "\"" + std::to_string(i) + "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},";
  for (const std::vector<uint8_t>& bytes :
       {metadata.build(), tensors.build(), tokens.build(), safetensors_of(names, 0)}) {
    EXPECT_LT(cost_of(bytes), 64 * bytes.size()) << bytes.size();
  }
}

}  // namespace
}  // namespace id2vec

// Every limit that a header reader enforces, with its reason, in one place. They are far above what real files
// hold; what they stop is a small file that asks for much work or memory. An error that comes from one of them
// has Code::kLimit and names the limit's value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace id2vec::limits {

// Any container ------------------------------------------------------------------------------------------------
// Bytes of headers held at once. The largest headers seen are about 20 MB (262 k tokens with merges); safetensors
// itself stops at 100 MB.
constexpr uint64_t kHeldBytes = uint64_t{128} << 20;
// What the first request for a file asks for: most safetensors and small GGUF headers fit, in one round trip.
constexpr uint64_t kFirstRequest = uint64_t{256} << 10;
// What a request asks for where weights lie behind the wanted piece.
constexpr uint64_t kShortRequest = uint64_t{4} << 10;
// How many bytes of a file decide which container it is: what the first answer of a server brings (probe.ts).
constexpr uint64_t kDetectionBytes = uint64_t{32} << 10;
// Files of one model. The largest published checkpoints have a few hundred shards.
constexpr size_t kFiles = 4096;
// Metadata entries. GGUF files have about 30 to 60, a config.json with its label lists a few thousand.
constexpr size_t kMetadataEntries = 1 << 16;
// Arrays of metadata with more elements are counted, not kept.
constexpr size_t kKeptArray = 256;
// Tensors of one model: the largest mixtures of experts published so far have about 100,000.
constexpr size_t kTensors = 1 << 20;
// Weights of a row. Models have up to about 20,000; a whole bias or mapping is one row too. Eight bits times this
// fits in 32 bits.
constexpr uint64_t kRowWeights = uint64_t{1} << 27;
// Dimensions of one tensor: convolution weights have 5, ggml allows 4; numpy's own limit is 64.
constexpr size_t kDimensions = 8;
// Bytes of a tensor's name. ggml stops at 64; dotted names of nested checkpoints are a few hundred.
constexpr size_t kNameBytes = 4096;

// JSON ---------------------------------------------------------------------------------------------------------
// Levels of nesting: one bit per level in a 64-bit mask.
constexpr int kJsonDepth = 64;
// Levels of config.json that become metadata (text_config.rope_scaling.factor has three).
constexpr int kConfigDepth = 6;
// Names of config.json's values ("text_config.rope_scaling.factor") may take this many bytes per byte of the file: a long
// key that holds many short ones would otherwise be copied for each. Honest files stay below 3.
constexpr uint64_t kConfigNameRatio = 16;
// Bytes of a config.json or of an index of shards. The index of the largest checkpoints has about 10 MB.
constexpr uint64_t kJsonBytes = uint64_t{64} << 20;

// GGUF ---------------------------------------------------------------------------------------------------------
// Alignment of the data section. Writers use 32; nobody is served by more than a large page.
constexpr uint64_t kGgufAlignment = uint64_t{1} << 21;

// safetensors --------------------------------------------------------------------------------------------------
// Bytes of the JSON header: the format's own rule.
constexpr uint64_t kSafetensorsHeaderBytes = 100'000'000;

// zip (PyTorch, npz) -------------------------------------------------------------------------------------------
// Bytes of a central directory, about 100 per entry: room for half a million entries.
constexpr uint64_t kZipDirectoryBytes = uint64_t{64} << 20;
// Deflate cannot expand a byte into more than this many (258 bytes from two bits, plus framing), so an entry that
// claims more lies about its size.
constexpr uint64_t kDeflateRatio = 1032;

// PyTorch ------------------------------------------------------------------------------------------------------
// Bytes of a pickle. It holds names and numbers, about 150 bytes per tensor, no weights.
constexpr uint64_t kPickleBytes = uint64_t{64} << 20;
// Values of a pickle, about 20 per tensor. One takes 64 bytes of memory and at least one byte of the file.
constexpr size_t kPickleValues = size_t{4} << 20;
// How deep containers may be nested in a checkpoint before their tensors are named: {"state_dict": {…}} is 2.
constexpr size_t kPickleDepth = 32;
// Names that flattening makes may take this many bytes per byte of pickle (a long key that many nested
// dictionaries share would otherwise be copied without end), plus a flat 64 KiB.
constexpr uint64_t kPickleNameRatio = 16;

// npy ----------------------------------------------------------------------------------------------------------
// Bytes of a header. Version 1 cannot pass 64 KiB; versions 2 and 3 grow beyond only for structured dtypes.
constexpr uint64_t kNpyHeaderBytes = uint64_t{1} << 20;

// ONNX ---------------------------------------------------------------------------------------------------------
// Elements in typed fields (float_data as single values, int32_data as varints) have no byte range of their own
// and are decoded into memory: this many bytes per file. Exporters use raw_data for anything big.
constexpr uint64_t kOnnxInlineBytes = uint64_t{64} << 20;
// Graphs within graphs (the branches of an If).
constexpr size_t kOnnxDepth = 8;
// Tables that a graph looks up, heads in front of its outputs, and tables beside these: more candidates of one kind than
// this are not weighed against each other. A merged encoder and decoder has four.
constexpr size_t kOnnxCandidates = 64;
// Operators of all graphs: a decoder of 100 layers, unrolled by an exporter, has about 20,000.
constexpr size_t kOnnxParts = 1 << 20;

}  // namespace id2vec::limits

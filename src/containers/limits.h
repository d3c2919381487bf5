// Every limit that a header reader enforces, with its reason, in one place. They are far above what real files
// hold; what they stop is a small file that asks for much work or memory. An error that comes from one of them
// has Code::kLimit and names the limit's value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace id2vec::limits {

// Any container ------------------------------------------------------------------------------------------------
// Tensors of one model: the largest mixtures of experts published so far have about 100,000.
constexpr size_t kTensors = 1 << 20;
// Dimensions of one tensor: convolution weights have 5, ggml allows 4; numpy's own limit is 64.
constexpr size_t kDimensions = 8;
// Bytes of a tensor's name. ggml stops at 64; dotted names of nested checkpoints are a few hundred.
constexpr size_t kNameBytes = 4096;

// zip (PyTorch, npz) -------------------------------------------------------------------------------------------
// Bytes of a central directory, about 100 per entry: room for half a million entries.
constexpr uint64_t kZipDirectoryBytes = uint64_t{64} << 20;
// Deflate cannot expand a byte into more than this many (258 bytes from two bits, plus framing), so an entry that
// claims more lies about its size.
constexpr uint64_t kDeflateRatio = 1032;

// PyTorch ------------------------------------------------------------------------------------------------------
// Bytes of a pickle. It holds names and numbers, about 150 bytes per tensor, no weights.
constexpr uint64_t kPickleBytes = uint64_t{64} << 20;
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
// Bytes of one node of the graph (weights inside a node's attributes are skipped, not counted).
constexpr uint64_t kOnnxNodeBytes = uint64_t{1} << 20;
// Nodes and initializers walked: a decoder of 100 layers, unrolled by an exporter, has about 20,000.
constexpr size_t kOnnxParts = 1 << 20;

}  // namespace id2vec::limits

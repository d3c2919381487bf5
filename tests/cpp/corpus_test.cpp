// One row for every file of the corpus: what it loads as, with two values of its table, or how it fails. The values
// come from decoding the bytes by hand (a script apart from this project), not from id2vec.
#include "corpus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>

#include "containers/reader.h"
#include "support/load_table.h"
#include "support/memory_files.h"

namespace id2vec {
namespace {

namespace fs = std::filesystem;
using Tying = ModelPlan::Tying;

struct Cell {
  uint32_t row, col;
  float value;
};

struct Loads {
  const char* file;
  const char* container;
  const char* tensor;
  const char* dtype;
  uint64_t rows;
  uint32_t cols;
  Tying tying;
  Cell first, second;
};

struct Fails {
  const char* file;
  Code code;
  const char* piece;  // of the sentence
};

constexpr const char* kEmbed = "token_embd.weight";
constexpr const char* kHfEmbed = "model.embed_tokens.weight";

const Loads kLoads[] = {
    {"gguf/hyllama-dummy.gguf",
     "GGUF",
     "tensor_8",
     "F32",
     3,
     3,
     Tying::kAbsent,
     {1, 0, 108.0f},
     {2, 2, 108.0f}},
    {"gguf/stories260K.BF16.gguf",
     "GGUF",
     kEmbed,
     "BF16",
     512,
     64,
     Tying::kCompare,
     {1, 0, -0.126953125f},
     {300, 63, 0.17578125f}},
    {"gguf/stories260K.F16.gguf",
     "GGUF",
     kEmbed,
     "F16",
     512,
     64,
     Tying::kCompare,
     {1, 0, -0.127075195f},
     {300, 63, 0.176269531f}},
    {"gguf/stories260K.Q4_0.gguf",
     "GGUF",
     kEmbed,
     "Q4_0",
     512,
     64,
     Tying::kUntied,
     {1, 0, -0.151611328f},
     {300, 63, 0.188232422f}},
    {"gguf/stories260K.Q4_1.gguf",
     "GGUF",
     kEmbed,
     "Q4_1",
     512,
     64,
     Tying::kUntied,
     {1, 0, -0.147033691f},
     {300, 63, 0.158966064f}},
    {"gguf/stories260K.Q5_0.gguf",
     "GGUF",
     kEmbed,
     "Q5_0",
     512,
     64,
     Tying::kUntied,
     {1, 0, -0.113708496f},
     {300, 63, 0.188232422f}},
    {"gguf/stories260K.Q5_1.gguf",
     "GGUF",
     kEmbed,
     "Q5_1",
     512,
     64,
     Tying::kUntied,
     {1, 0, -0.122772217f},
     {300, 63, 0.16986084f}},
    {"gguf/stories260K.Q8_0.gguf",
     "GGUF",
     kEmbed,
     "Q8_0",
     512,
     64,
     Tying::kCompare,
     {1, 0, -0.12884903f},
     {300, 63, 0.177841187f}},
    {"gguf/stories260K.gguf",
     "GGUF",
     kEmbed,
     "F32",
     512,
     64,
     Tying::kCompare,
     {1, 0, -0.127085686f},
     {300, 63, 0.176224604f}},
    {"onnx/gbq_u4_mmnb.onnx",
     "ONNX",
     "w_quant",
     "AFFINE_4",
     8002,
     256,
     Tying::kCompare,
     {1, 0, 0.0f},
     {300, 255, -0.159150973f}},
    {"onnx/hf-internal-testing_tiny-random-gpt2-fp32_past.onnx",
     "ONNX",
     "transformer.wte.weight",
     "F32",
     1000,
     32,
     Tying::kCompare,
     {1, 0, -0.0239107627f},
     {300, 31, -0.0207540225f}},
    {"safetensors/model2vec/float16/model.safetensors",
     "safetensors",
     "embeddings",
     "F16",
     29528,
     2,
     Tying::kAbsent,
     {1, 0, 0.820800781f},
     {300, 1, -0.162109375f}},
    {"safetensors/model2vec/float32/model.safetensors",
     "safetensors",
     "embeddings",
     "F32",
     29528,
     2,
     Tying::kAbsent,
     {1, 0, 0.820982039f},
     {300, 1, -0.162146032f}},
    {"safetensors/model2vec/sentence-transformers/model.safetensors",
     "safetensors",
     "embedding.weight",
     "F32",
     29528,
     2,
     Tying::kAbsent,
     {1, 0, 0.820982039f},
     {300, 1, -0.162146032f}},
    {"safetensors/model2vec/vocab-quantized/model.safetensors",
     "safetensors",
     "embeddings",
     "F32",
     128,
     64,
     Tying::kAbsent,
     {1, 0, -0.0772991031f},
     {127, 63, -0.205224618f}},
    {"safetensors/stories260K-hf/model-00001-of-00002.safetensors",
     "safetensors",
     kHfEmbed,
     "F32",
     512,
     64,
     Tying::kAbsent,
     {1, 0, -0.127085686f},
     {300, 63, 0.176224604f}},
    {"safetensors/stories260K-hf/model-00002-of-00002.safetensors",
     "safetensors",
     kHfEmbed,
     "F32",
     512,
     64,
     Tying::kAbsent,
     {1, 0, -0.127085686f},
     {300, 63, 0.176224604f}},
    {"safetensors/stories260K-hf/model.bf16.safetensors",
     "safetensors",
     kHfEmbed,
     "BF16",
     512,
     64,
     Tying::kAbsent,
     {1, 0, -0.126953125f},
     {300, 63, 0.17578125f}},
    {"safetensors/stories260K-hf/model.safetensors.index.json",
     "safetensors",
     kHfEmbed,
     "F32",
     512,
     64,
     Tying::kAbsent,
     {1, 0, -0.127085686f},
     {300, 63, 0.176224604f}},
    {"safetensors/stories260K-hf/model.tied.safetensors",
     "safetensors",
     kHfEmbed,
     "F32",
     512,
     64,
     Tying::kAbsent,
     {1, 0, -0.127085686f},
     {300, 63, 0.176224604f}},
    {"safetensors/stories260K-hf/model.untied-dup.safetensors",
     "safetensors",
     kHfEmbed,
     "F32",
     512,
     64,
     Tying::kCompare,
     {1, 0, -0.127085686f},
     {300, 63, 0.176224604f}},
    {"torch/burn/embedding.pt",
     "PyTorch",
     "embed.weight",
     "F32",
     10,
     3,
     Tying::kAbsent,
     {1, 0, -1.60948491f},
     {9, 2, -1.03733873f}},
    {"torch/burn/simple_legacy.pt",
     "PyTorch",
     "weight",
     "F32",
     2,
     3,
     Tying::kAbsent,
     {1, 0, -0.65648818f},
     {1, 2, 2.08789277f}},
    {"torch/distilbert-tiny-legacy-pytorch_model.bin",
     "PyTorch",
     "distilbert.embeddings.word_embeddings.weight",
     "F32",
     28996,
     2,
     Tying::kAbsent,
     {1, 0, -0.000989405438f},
     {300, 1, 0.0138791082f}},
    {"torch/executorch-llama-demo_rand_params.pth",
     "PyTorch",
     "tok_embeddings.weight",
     "F32",
     512,
     64,
     Tying::kCompare,
     {1, 0, 0.174996644f},
     {300, 63, 0.318428874f}},
};

// Tables [64, 512] that ggml quantized from golden/table.f32; `error` is what its README found for the type (root
// mean square, relative) on rows of the same distribution.
struct Quantized {
  const char* file;
  const char* dtype;
  Tying tying;
  double error;
};

const Quantized kQuantized[] = {
    {"golden/tiny-bf16.gguf", "BF16", Tying::kAbsent, 0.0016},
    {"golden/tiny-f16.gguf", "F16", Tying::kAbsent, 0.0002},
    {"golden/tiny-f32.gguf", "F32", Tying::kAbsent, 0.0000},
    {"golden/tiny-iq1_m.gguf", "IQ1_M", Tying::kAbsent, 0.5705},
    {"golden/tiny-iq1_s.gguf", "IQ1_S", Tying::kAbsent, 0.4838},
    {"golden/tiny-iq2_s.gguf", "IQ2_S", Tying::kAbsent, 0.2653},
    {"golden/tiny-iq2_xs.gguf", "IQ2_XS", Tying::kAbsent, 0.2988},
    {"golden/tiny-iq2_xxs.gguf", "IQ2_XXS", Tying::kAbsent, 0.3472},
    {"golden/tiny-iq3_s.gguf", "IQ3_S", Tying::kAbsent, 0.1706},
    {"golden/tiny-iq3_xxs.gguf", "IQ3_XXS", Tying::kAbsent, 0.2130},
    {"golden/tiny-iq4_nl.gguf", "IQ4_NL", Tying::kAbsent, 0.0757},
    {"golden/tiny-iq4_xs.gguf", "IQ4_XS", Tying::kAbsent, 0.0764},
    {"golden/tiny-mxfp4.gguf", "MXFP4", Tying::kAbsent, 0.1129},
    {"golden/tiny-nvfp4.gguf", "NVFP4", Tying::kAbsent, 0.1012},
    {"golden/tiny-q1_0.gguf", "Q1_0", Tying::kAbsent, 0.5975},
    {"golden/tiny-q2_0.gguf", "Q2_0", Tying::kAbsent, 0.7277},
    {"golden/tiny-q2_k.gguf", "Q2_K", Tying::kAbsent, 0.2958},
    {"golden/tiny-q3_k.gguf", "Q3_K", Tying::kAbsent, 0.1511},
    {"golden/tiny-q4_0.gguf", "Q4_0", Tying::kAbsent, 0.0871},
    {"golden/tiny-q4_1.gguf", "Q4_1", Tying::kAbsent, 0.0785},
    {"golden/tiny-q4_k.gguf", "Q4_K", Tying::kAbsent, 0.0714},
    {"golden/tiny-q5_0.gguf", "Q5_0", Tying::kAbsent, 0.0426},
    {"golden/tiny-q5_1.gguf", "Q5_1", Tying::kAbsent, 0.0381},
    {"golden/tiny-q5_k.gguf", "Q5_K", Tying::kAbsent, 0.0365},
    {"golden/tiny-q6_k.gguf", "Q6_K", Tying::kAbsent, 0.0177},
    {"golden/tiny-q8_0-align64.gguf", "Q8_0", Tying::kAbsent, 0.0054},
    {"golden/tiny-q8_0-align8.gguf", "Q8_0", Tying::kAbsent, 0.0054},
    {"golden/tiny-q8_0.gguf", "Q8_0", Tying::kAbsent, 0.0054},
    {"golden/tiny-split-00001-of-00002.gguf", "Q8_0", Tying::kUntied, 0.0054},
    {"golden/tiny-split-00002-of-00002.gguf", "Q8_0", Tying::kUntied, 0.0054},
    {"golden/tiny-tq1_0.gguf", "TQ1_0", Tying::kAbsent, 0.8134},
    {"golden/tiny-tq2_0.gguf", "TQ2_0", Tying::kAbsent, 0.8134},
    {"golden/tiny-untied-q4_k-q6_k.gguf", "Q4_K", Tying::kUntied, 0.0714},
};

constexpr const char* kUnknown = "this is no model file that id2vec knows";
constexpr const char* kNoIndex = "this is JSON, but no index of shards";

const Fails kFails[] = {
    {"SOURCES.md", Code::kUnsupported, kUnknown},
    {"gguf/ggml-vocab-bert-bge.gguf", Code::kNotFound,
     "the file holds no tensors, only a vocabulary of 30522 pieces"},
    {"gguf/ggml-vocab-gpt-2.gguf", Code::kNotFound,
     "the file holds no tensors, only a vocabulary of 50257 pieces"},
    {"gguf/ggml-vocab-gpt-2.gguf.inp", Code::kUnsupported, kUnknown},
    {"gguf/ggml-vocab-gpt-2.gguf.out", Code::kUnsupported, kUnknown},
    {"golden/README.md", Code::kUnsupported, kUnknown},
    {"json/allennlp-glove.6B.100d.sample.txt.gz", Code::kUnsupported, "this is gzip-compressed"},
    {"json/wink-sg-100d.sub10000.json", Code::kUnsupported, kNoIndex},
    {"malformed/bad_pytorch.pt", Code::kUnsupported, kUnknown},
    {"malformed/benign0_v3.pkl", Code::kUnsupported,
     "this is a Python pickle, but none that torch.save wrote"},
    {"malformed/cozy-gguf/gguf-unknown-type.hex", Code::kUnsupported,
     "tensor 'future.weight' has type 43, which is not known to this version of"},
    {"malformed/cozy-gguf/gguf-unsupported-version.hex", Code::kUnsupported,
     "GGUF version 4 is not read, only versions 2 and 3"},
    {"malformed/cozy-gguf/gguf-v2-f32.hex", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'dense.weight' [2] F32"},
    {"malformed/cozy-gguf/gguf-v3-q4-0.hex", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'quant.weight' [32] Q4_0"},
    {"malformed/cozy-gguf/planner-vectors.json", Code::kUnsupported, kNoIndex},
    {"malformed/cozy-gguf/raw-empty.hex", Code::kTruncated, "the file is empty"},
    {"malformed/cozy-gguf/raw-small.hex", Code::kUnsupported, kUnknown},
    {"malformed/cozy-gguf/safetensors-fp8-flux2-worker-output.hex", Code::kTruncated,
     "the tensors take 23592960 bytes, but only 0 follow the header"},
    {"malformed/cozy-gguf/safetensors-fp8-te137-canonical-member-units.hex", Code::kTruncated,
     "the tensors take 589824 bytes, but only 0 follow the header"},
    {"malformed/cozy-gguf/safetensors-gap.hex", Code::kMalformed,
     "tensor 'x' starts at data offset 1, leaving a hole behind the tensor"},
    {"malformed/cozy-gguf/safetensors-header-only.hex", Code::kNotFound, "the file holds no tensors"},
    {"malformed/cozy-gguf/safetensors-two-tensors.hex", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'a' [3] U8, 'b' [5] U8"},
    {"malformed/cozy-gguf/safetensors-unknown-dtype.hex", Code::kUnsupported,
     "tensor 'x' has the unknown dtype 'F128'"},
    {"malformed/int_array.npy", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'int_array' [2, 2] I32"},
    {"malformed/int_arrays.npz", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'a' [3] I32, 'b' [3] I32"},
    {"malformed/int_arrays_compressed.npz", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'a' [3] I32, 'b' [3] I32"},
    {"malformed/not_a_pickle.bin", Code::kUnsupported, kUnknown},
    {"malformed/object_array.npy", Code::kUnsupported,
     "arrays of Python objects are pickles, and id2vec executes no pickle"},
    {"malformed/object_arrays.npz", Code::kUnsupported,
     "arrays of Python objects are pickles, and id2vec executes no pickle"},
    {"malformed/py3-objarr.npy", Code::kUnsupported,
     "arrays of Python objects are pickles, and id2vec executes no pickle"},
    {"malformed/safetensors_abuse_attempt_1.safetensors", Code::kTruncated,
     "the header announces 1000 bytes, but only 80 follow"},
    {"malformed/weight-inspect-empty.gguf", Code::kNotFound, "the file holds no tensors"},
    {"malformed/weight-inspect-tiny.gguf", Code::kTruncated,
     "tensor 'test.weight.0' takes 32768 bytes at offset 0 of the data section"},
    {"npy/test.npy", Code::kNotFound, "none of the tensors is a matrix of weights: 'test' [10] I64"},
    {"npy/test.npz", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'x' [10] I64, 'x_plus_one'"},
    {"safetensors/hf-samples-overall.safetensors", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'B' [6] U8, 'H' [6] U16, 'I'"},
    {"safetensors/model2vec/embeddings_long.json", Code::kUnsupported, kNoIndex},
    {"safetensors/model2vec/embeddings_short.json", Code::kUnsupported, kNoIndex},
    {"safetensors/model2vec/embeddings_vocab_quantized.json", Code::kUnsupported, kNoIndex},
    {"safetensors/model2vec/float16/config.json", Code::kUnsupported, kNoIndex},
    {"safetensors/model2vec/float16/tokenizer.json", Code::kUnsupported, kNoIndex},
    {"safetensors/model2vec/float32/config.json", Code::kUnsupported, kNoIndex},
    {"safetensors/model2vec/float32/tokenizer.json", Code::kUnsupported, kNoIndex},
    {"safetensors/model2vec/sentence-transformers/tokenizer.json", Code::kUnsupported, kNoIndex},
    {"safetensors/model2vec/vocab-quantized/config.json", Code::kUnsupported, kNoIndex},
    {"safetensors/model2vec/vocab-quantized/tokenizer.json", Code::kUnsupported, kNoIndex},
    {"safetensors/stories260K-hf/config.json", Code::kUnsupported, kNoIndex},
    {"torch/bumblebee/noncontiguous_tensor.legacy.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'noncontiguous_tensor.legacy'"},
    {"torch/bumblebee/state_dict_full.zip.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'base.conv.weight' [2, 3, 2,"},
    {"torch/bumblebee/storage_view.legacy.pt", Code::kUnsupported, "this checkpoint holds no tensors"},
    {"torch/bumblebee/tensors.legacy.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: '0' [2] F64, '1' [2] F32, '2'"},
    {"torch/bumblebee/tensors.zip.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: '0' [2] F64, '1' [2] F32, '2'"},
    {"torch/burn/bfloat16.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor' [3] BF16"},
    {"torch/burn/broken.pt", Code::kUnsupported, kUnknown},
    {"torch/burn/checkpoint.pt", Code::kAmbiguous,
     "no tensor has a name that embeddings have, and several are matrices:"},
    {"torch/burn/float16.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor' [3] F16"},
    {"torch/burn/legacy_shared_storage.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'view1' [10] F32, 'view2' [20]"},
    {"torch/burn/legacy_uncloned_views.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor1' [10] F32, 'tensor2'"},
    {"torch/burn/legacy_with_offsets.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor1' [10] F32, 'tensor2'"},
    {"torch/burn/non_contiguous_indexes.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'fc.0.weight' [2, 2, 3, 3]"},
    {"torch/gopickle/tensor_bfloat16_proto2.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_bfloat16_proto2' [4]"},
    {"torch/gopickle/tensor_bfloat16_proto2_zip.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_bfloat16_proto2_zip'"},
    {"torch/gopickle/tensor_bool_proto2.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_bool_proto2' [4] BOOL"},
    {"torch/gopickle/tensor_bool_proto2_zip.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_bool_proto2_zip' [4]"},
    {"torch/gopickle/tensor_float16_proto2.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_float16_proto2' [4] F16"},
    {"torch/gopickle/tensor_float16_proto2_zip.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_float16_proto2_zip'"},
    {"torch/gopickle/tensor_float32_proto2.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_float32_proto2' [4] F32"},
    {"torch/gopickle/tensor_float32_proto2_zip.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_float32_proto2_zip'"},
    {"torch/gopickle/tensor_int8_proto2.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_int8_proto2' [4] I8"},
    {"torch/gopickle/tensor_int8_proto2_zip.pt", Code::kNotFound,
     "none of the tensors is a matrix of weights: 'tensor_int8_proto2_zip' [4] I8"},
};

// Tensors of files that hold no table: where their first element lies.
struct Placed {
  const char* file;
  const char* tensor;
  const char* dtype;
  uint64_t offset, bytes;
};

const Placed kPlaced[] = {
    {"torch/bumblebee/tensors.zip.pt", "0", "F64", 1088, 16},
    {"torch/bumblebee/tensors.zip.pt", "9", "BF16", 2496, 4},
    {"torch/bumblebee/state_dict_full.zip.pt", "base.conv.weight", "F32", 640, 96},
    {"torch/bumblebee/tensors.legacy.pt", "0", "F64", 1523, 16},
    {"torch/bumblebee/noncontiguous_tensor.legacy.pt", "noncontiguous_tensor.legacy", "I64", 346, 96},
    {"torch/burn/bfloat16.pt", "tensor", "BF16", 704, 6},
    {"torch/burn/float16.pt", "tensor", "F16", 704, 6},
    {"torch/burn/checkpoint.pt", "model_state_dict.fc2.weight", "F32", 1600, 120},
    {"torch/burn/non_contiguous_indexes.pt", "fc.8.weight", "F32", 3008, 144},
    {"torch/burn/legacy_shared_storage.pt", "view1", "F32", 553, 40},
    {"torch/burn/legacy_with_offsets.pt", "tensor1", "F32", 559, 40},
    {"torch/burn/legacy_uncloned_views.pt", "tensor1", "F32", 473, 40},
    {"torch/burn/legacy_uncloned_views.pt", "tensor2", "F32", 633, 40},
    {"torch/gopickle/tensor_int8_proto2.pt", "tensor_int8_proto2", "I8", 336, 4},
    {"torch/gopickle/tensor_float32_proto2.pt", "tensor_float32_proto2", "F32", 337, 16},
    {"torch/gopickle/tensor_int8_proto2_zip.pt", "tensor_int8_proto2_zip", "I8", 384, 4},
    {"torch/gopickle/tensor_bool_proto2_zip.pt", "tensor_bool_proto2_zip", "BOOL", 384, 4},
    {"torch/gopickle/tensor_bfloat16_proto2_zip.pt", "tensor_bfloat16_proto2_zip", "BF16", 384, 8},
    {"npy/test.npz", "x_plus_one", "I64", 455, 80},
    {"malformed/int_arrays.npz", "b", "I32", 378, 12},
};

// A virtual file is inflated, an ordinary one is as it is.
class Model {
 public:
  explicit Model(const fs::path& path) : files_(path.filename().string()) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path.parent_path())) {
      if (entry.is_regular_file()) add(entry.path());
    }
    plan_ = disk_.run(files_, [](FileSet& files) { return open_model(files, {}); });
  }

  const Result<ModelPlan>& plan() const { return plan_; }

  std::unique_ptr<Table> load(const KernelTable& kernels) {
    std::vector<uint8_t> bytes;
    auto table =
        test::load_table(plan_.value(), plan_.value().roles[0].source, kernels, [&](const std::string& file) {
          bytes = disk_.bytes(files_, file);
          return Bytes(bytes);
        });
    EXPECT_TRUE(table.ok()) << table.status().message();
    return table.ok() ? std::move(table.value()) : nullptr;
  }

 private:
  // The hex text of a file stands for the file.
  void add(const fs::path& path) {
    std::vector<uint8_t> bytes = read_file(path);
    if (path.extension() == ".hex") {
      std::vector<uint8_t> decoded;
      std::string digits(bytes.begin(), bytes.end());
      std::erase_if(digits, [](char c) { return c == '\n'; });
      for (size_t i = 0; i + 1 < digits.size(); i += 2) {
        decoded.push_back(static_cast<uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
      }
      bytes = std::move(decoded);
    }
    disk_.add(path.filename().string(), std::move(bytes));
  }

  FileSet files_;
  test::MemoryFiles disk_;
  Result<ModelPlan> plan_ = Status(Code::kNeedBytes, {});
};

// Root mean square of the difference, relative to that of `expected`.
double relative_error(const std::vector<float>& values, const std::vector<float>& expected) {
  double difference = 0, whole = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (double{values[i]} - expected[i]) * (double{values[i]} - expected[i]);
    whole += double{expected[i]} * expected[i];
  }
  return std::sqrt(difference / whole);
}

std::string code_of(Code code) { return std::string(code_name(code)); }

void check(const Loads& row) {
  SCOPED_TRACE(row.file);
  Model model(corpus_folder() / row.file);
  ASSERT_TRUE(model.plan().ok()) << model.plan().status().message();
  const ModelPlan& plan = model.plan().value();
  const TableSource& source = plan.roles.at(0).source;
  EXPECT_EQ(plan.directory.container, row.container);
  EXPECT_EQ(source.name, row.tensor);
  EXPECT_EQ(source.spec.dtype->name, row.dtype);
  EXPECT_EQ(source.spec.rows, row.rows);
  ASSERT_EQ(source.spec.cols, row.cols);
  EXPECT_EQ(static_cast<int>(plan.tying), static_cast<int>(row.tying));
  for (const KernelTable* kernels : kernel_tables()) {
    const std::unique_ptr<Table> table = model.load(*kernels);
    ASSERT_NE(table, nullptr);
    for (const Cell& cell : {row.first, row.second}) {
      std::vector<float> values(row.cols);
      ASSERT_TRUE(table->lookup(std::span(&cell.row, 1), values).ok());
      EXPECT_EQ(values[cell.col], cell.value) << kernels->isa << " [" << cell.row << ", " << cell.col << "]";
    }
  }
}

void check(const Quantized& row) {
  SCOPED_TRACE(row.file);
  Model model(corpus_folder() / row.file);
  ASSERT_TRUE(model.plan().ok()) << model.plan().status().message();
  const TableSource& source = model.plan().value().roles.at(0).source;
  EXPECT_EQ(source.name, kEmbed);
  EXPECT_EQ(source.spec.dtype->name, row.dtype);
  EXPECT_EQ(static_cast<int>(model.plan().value().tying), static_cast<int>(row.tying));
  ASSERT_EQ(source.spec.rows, 64u);
  ASSERT_EQ(source.spec.cols, 512u);
  const std::vector<uint8_t> bytes = corpus_file("golden/table.f32");
  std::vector<float> expected(64 * 512), values(64 * 512);
  ASSERT_EQ(bytes.size(), expected.size() * sizeof(float));
  std::memcpy(expected.data(), bytes.data(), bytes.size());
  std::vector<uint32_t> ids(64);
  std::iota(ids.begin(), ids.end(), 0);
  const std::unique_ptr<Table> table = model.load(*kernel_table("auto"));
  ASSERT_NE(table, nullptr);
  ASSERT_TRUE(table->lookup(ids, values).ok());
  const double error = relative_error(values, expected);
  EXPECT_LE(error, row.error * 1.15 + 0.0001);
  EXPECT_GE(error, row.error * 0.85 - 0.0001);
}

void check(const Placed& row) {
  SCOPED_TRACE(row.file);
  const fs::path path = corpus_folder() / row.file;
  test::MemoryFiles disk(path.filename().string(), corpus_file(row.file));
  FileSet files(path.filename().string());
  const Result<Directory> directory = disk.run(files, read_directory, true);
  ASSERT_TRUE(directory.ok()) << directory.status().message();
  const Tensor* tensor = directory.value().find(row.tensor);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->dtype->name, row.dtype);
  EXPECT_EQ(tensor->offset, row.offset);
  EXPECT_EQ(tensor->bytes, row.bytes);
}

void check(const Fails& row) {
  SCOPED_TRACE(row.file);
  const Model model(corpus_folder() / row.file);
  ASSERT_FALSE(model.plan().ok()) << "embedding " << model.plan().value().roles[0].source.name;
  const Status& status = model.plan().status();
  EXPECT_EQ(code_of(status.code()), code_of(row.code)) << status.message();
  EXPECT_NE(status.message().find(row.piece), std::string::npos) << status.message();
}

TEST(Corpus, EveryFileLoadsOrSaysWhyNot) {
  ID2VEC_NEED_CORPUS();
  for (const Loads& row : kLoads) check(row);
  for (const Quantized& row : kQuantized) check(row);
  for (const Fails& row : kFails) check(row);
  for (const Placed& row : kPlaced) check(row);
}

// golden/*.bin and *.f32 are raw rows without a header, tested by golden_test.cpp.
bool is_listed_elsewhere(const fs::path& file) {
  return file.parent_path().filename() == "golden" &&
         (file.extension() == ".bin" || file.extension() == ".f32");
}

TEST(Corpus, EveryFileIsInTheTable) {
  ID2VEC_NEED_CORPUS();
  std::set<std::string> listed;
  for (const Loads& row : kLoads) listed.insert(row.file);
  for (const Quantized& row : kQuantized) listed.insert(row.file);
  for (const Fails& row : kFails) listed.insert(row.file);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(corpus_folder())) {
    if (!entry.is_regular_file() || is_listed_elsewhere(entry.path())) continue;
    const std::string name = fs::relative(entry.path(), corpus_folder()).generic_string();
    EXPECT_EQ(listed.count(name), 1u) << name << " has no row";
  }
}

}  // namespace
}  // namespace id2vec

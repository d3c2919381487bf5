// From a directory to a model: which tensors play which role, what the architecture does with them, and what has
// to be read. Everything here is decided from headers; no weight is read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "containers/directory.h"
#include "containers/file_set.h"
#include "model/convert.h"
#include "model/profile.h"
#include "table/table.h"

namespace id2vec {

// One contiguous run of bytes to read: files[file][offset, offset + bytes) → plane `plane` at `target`.
struct Segment {
  uint32_t file = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t plane = 0;
  uint64_t target = 0;
};

// How the bytes of the segments become table bytes.
enum class Conversion : uint8_t {
  kNone,  // they go straight to their final address (of virtual files too: see file_set.h)
  kStrided,  // plane 0 through convert.h, by TableSource::layout: one segment, whose offsets are those of the layout
  kMxfp4,       // codes (plane 0) and exponents (plane 1), apart in the file, become blocks: one segment each
  kZeroPoints,  // plane 2 through convert.h, by TableSource::zero_points: one segment
};

// Bytes that need no reading: they were in the header (ONNX typed fields), or stand for a scale that is not stored.
struct InlineRun {
  uint32_t plane = 0;
  std::vector<uint8_t> bytes;  // from the start of the plane; through convert.h where that applies
};

// A table that a role asks for, and where its bytes are. Tensors of one dimension are one row: [1, n]. Those of
// plain integers ("mapping") have a dtype that is no format: nothing but their bytes can be had.
struct TableSource {
  std::string name;  // tensor name in the file (of the quants, where planes are apart)
  TableSpec spec{};
  Conversion conversion = Conversion::kNone;
  StridedLayout layout{};           // kStrided
  PackedRows zero_points{};         // kZeroPoints
  std::vector<Segment> segments{};  // in the order in which they should be read
  std::vector<InlineRun> inline_runs{};
  uint64_t bytes() const;           // Σ segments
};

// Puts stored bytes to their places in a table that was allocated for `source`: `at` is the byte of the plane, or,
// where the plane is converted, of what is stored. Chunks may come in any order and be cut anywhere.
void put_stored(const TableSource& source, uint32_t plane, uint64_t at, Bytes chunk, Table& table);

// True if that is what the table holds there.
bool holds_stored(const TableSource& source, uint32_t plane, uint64_t at, Bytes chunk, Table& table);

// Writes what needs no reading into a table that was allocated for `source`.
void write_inline(const TableSource& source, Table& table);

struct OpenOptions {
  // Overrides the embedding's name, or names a role whose matrix takes its place: "per_layer". Empty: by role.
  std::string tensor{};
  std::string head{};  // overrides the head's name; empty: by role
};

// A role that was resolved. The names, and the shapes that src/stage expects under them (d: the width of the
// first layer, r: the width of a row, r = d where there is no projection):
//   embedding [V, r] · head [V, r], where it is a tensor of its own · head_bias [V]
//   positions [P, d or r] · token_types [T, d or r] · norm_weight, norm_bias [d or r]
//   projection [d, r] (as a linear layer stores it: x · projectionᵀ) · projection_bias [d]
//   head_projection [r, d] · head_projection_bias [r] · head_norm_weight, head_norm_bias [r]
//   per_layer [V', layers · width] (Gemma 3n) · mapping [ids] · weights [ids] (static embeddings)
struct Role {
  std::string role;
  TableSource source;
};

struct ModelPlan {
  Directory directory;
  std::vector<Role> roles;  // the embedding first; the head only where it is a tensor of its own
  Profile profile;
  // Tied by absence (no head in the file, or nothing but a head), by sharing (the same byte range), or perhaps by
  // value: `head` is there and has the same dtype and shape (if not the same conversion); the loader compares
  // while it reads and keeps one copy if all bytes agree.
  enum class Tying : uint8_t { kAbsent, kShared, kCompare, kUntied } tying = Tying::kAbsent;
  std::vector<std::string> warnings;  // where a file contradicts itself, in sentences
  // Not empty: there is a head of its own (kUntied), but none that can be read; a sentence that says why.
  std::string head_problem;

  const Role* find(std::string_view role) const;
};

// The profile of a plan whose roles are there; `architecture` chooses another family than the file's. Where the per-layer
// table was chosen as the embedding, its rows get the scale of that table.
void set_profile(ModelPlan& plan, std::string_view architecture = {});

// Reads headers (root file, siblings, config.json where a container relies on it) and resolves roles and profile.
// Restartable: see containers/file_set.h.
Result<ModelPlan> open_model(FileSet& files, const OpenOptions& options);

}  // namespace id2vec

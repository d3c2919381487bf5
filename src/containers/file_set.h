// How sans-io code sees files: by name, in ranges, through somebody else's hands.
//
// A reader is an ordinary function over a FileSet. Where it needs a range that is not there yet it returns
// kNeedBytes and the FileSet remembers what was wanted; the driver (TypeScript, a test, a fuzzer) fetches that
// range, hands it over with `feed`, and calls the reader again from its start. A driver that at least doubles
// what it fetches of a growing header keeps the whole work linear in the header.
//
//   FileSet files("model.gguf");
//   for (;;) {
//     Result<ModelPlan> plan = open_model(files, options);
//     if (plan.status().code() != Code::kNeedBytes) return plan;
//     const Want& want = files.want();
//     … where want.length is 0: find out the size of want.file, then files.set_size(…) or files.set_missing(…)
//     … else read want.suggested (at least want.length) bytes at want.offset into files.feed(…)
//   }
//
// A compressed entry of an archive (npz, a re-packed PyTorch zip) is a *virtual file*: the reader declares "this name
// is what comes out when that range of that file is inflated" and reads it like any other file. The core holds no
// inflater; the driver looks the name of a wanted file up with `deflated`, and where it is virtual it inflates the
// range from its start (JavaScript: DecompressionStream('deflate-raw')), skips to the wanted offset and feeds what
// follows. It stops after `inflated` bytes, and a stream that ends earlier is an error of the driver ("truncated").
// Weights are loaded the same way: a Directory names virtual files in `files` like the ordinary ones.
//
// The size of a file is wanted before any of its bytes, and every range is checked against it, so a header that
// lies about a length fails with kTruncated and never becomes an allocation. A driver may feed bytes that nobody
// asked for (the first piece of a file along with its size, or a whole file).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/byte_buffer.h"
#include "core/bytes.h"
#include "core/status.h"

namespace id2vec {

struct Want {
  std::string file;
  uint64_t offset = 0;
  uint64_t length = 0;     // 0: only the size of the file (or that it is missing) is wanted
  uint64_t suggested = 0;  // ≥ length: reading this much keeps the work linear in the size of the header
  bool optional = false;   // the reader goes on without this file if it is missing
};

// A raw deflate stream (RFC 1951) inside a file.
struct DeflatedRange {
  std::string archive;    // the file that holds the stream
  uint64_t offset = 0;    // where the stream starts in it
  uint64_t bytes = 0;     // of the stream
  uint64_t inflated = 0;  // bytes that come out
};

class FileSet {
 public:
  // `root` is the name the user gave (the last part of its path); siblings are named relative to it.
  explicit FileSet(std::string root);

  const std::string& root() const { return root_; }

  // Reader's side --------------------------------------------------------------------------------------------
  // The size in bytes of a file; kNeedBytes until the driver has told it; kNotFound if it is missing.
  Result<uint64_t> size(std::string_view file);
  // True if the file is there; asks for it (as optional) the first time.
  Result<bool> exists(std::string_view file);
  // Exactly `length` contiguous bytes at `offset`; valid until the next feed() or drop() of that file.
  // kTruncated if they pass the end of the file.
  Result<Bytes> read(std::string_view file, uint64_t offset, uint64_t length);
  // The same for a short piece with weights behind it (a record between two tensors): suggests reading only a
  // little more, so that a walk from piece to piece does not fetch the weights that lie between.
  Result<Bytes> read_between(std::string_view file, uint64_t offset, uint64_t length);
  // The bytes that are there already, from `offset` on without a gap: a reader that does not know how long its
  // header is walks through these and calls read() where they end.
  Bytes available(std::string_view file, uint64_t offset) const;

  // Declares a virtual file; doing so again is harmless. From now on size(name) is range.inflated.
  void declare_deflated(const std::string& name, DeflatedRange range);

  // Driver's side --------------------------------------------------------------------------------------------
  // What the last kNeedBytes was about.
  const Want& want() const { return want_; }
  // Where a virtual file comes from; null for an ordinary file.
  const DeflatedRange* deflated(std::string_view file) const;
  void set_size(std::string_view file, uint64_t size);
  void set_missing(std::string_view file);
  // Reserves room for a range and returns where to put its bytes: valid until the next call on this FileSet.
  // Ranges may extend or overlap those that are there already (they are joined when they touch).
  // kInvalidArgument past the end of the file, kLimit past limits::kHeldBytes, kOutOfMemory.
  Result<MutableBytes> feed(std::string_view file, uint64_t offset, uint64_t length);
  // Frees the bytes of every file (sizes stay known).
  void drop_bytes();
  // Bytes held right now.
  uint64_t held() const;

 private:
  struct Segment {
    uint64_t offset = 0;
    ByteBuffer bytes;
    uint64_t end() const { return offset + bytes.size(); }
  };
  struct File {
    std::optional<uint64_t> size;
    bool missing = false;
    std::vector<Segment> segments;  // sorted by offset, disjoint, never touching
  };
  Status need(Want want);
  Result<Bytes> read(std::string_view file, uint64_t offset, uint64_t length, uint64_t least_request);
  File& entry(std::string_view file);
  // Makes one segment out of [offset, end) and every segment that it touches; null where memory is short.
  static Segment* join_segments(File& file, uint64_t offset, uint64_t end);

  std::string root_;
  std::map<std::string, File, std::less<>> files_;
  std::map<std::string, DeflatedRange, std::less<>> deflated_;
  Want want_;
};

// A name that a header may use for a sibling file: relative, without "..", a scheme, a query or a drive letter.
bool is_sibling_name(std::string_view name);

}  // namespace id2vec

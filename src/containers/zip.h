// zip archives, as far as PyTorch and npz need them: the central directory, checked, and where entries start.
//
//   [local header, name, extra, data, (descriptor)] × n  ·  central directory  ·  (zip64 records)  ·  end
//   record
//
// Checked: one disk; directory and end record where they say they are; no encrypted entry; names without
// "..", without a leading slash and all different; stored entries of equal compressed and plain size;
// deflated entries no larger than deflate can make them; no two entries on the same bytes; local headers that
// agree with the central directory in name, method and sizes. Source: APPNOTE.TXT 6.3 by PKWARE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "containers/file_set.h"

namespace id2vec {

struct ZipEntry {
  enum Method : uint16_t { kStored = 0, kDeflated = 8 };

  std::string name;
  uint16_t flags = 0;
  uint16_t method = kStored;
  uint64_t compressed = 0;     // bytes in the archive
  uint64_t size = 0;           // bytes after decompression
  uint64_t header_offset = 0;  // of the local header
  uint64_t end_limit = 0;      // where the next local header or the central directory starts
};

// True if a file starts like an archive that has at least one entry.
bool is_zip(Bytes head);
// The name in the first local header; empty if `head` does not reach its end.
std::string_view first_zip_name(Bytes head);

// The entries in the order of their position in the archive.
Result<std::vector<ZipEntry>> read_zip(FileSet& files, std::string_view file);

// Reads the local header of an entry, compares it with the central directory and returns where its data
// starts.
Result<uint64_t> zip_data_offset(FileSet& files, std::string_view file, const ZipEntry& entry);

// Where the plain bytes of an entry can be read: the archive itself for a stored entry, a virtual file
// "archive!entry" (declared here) for a deflated one. kUnsupported for other methods.
struct ZipContent {
  std::string file;
  uint64_t offset = 0;
  uint64_t size = 0;
};
Result<ZipContent> zip_content(FileSet& files, std::string_view file, const ZipEntry& entry);

}  // namespace id2vec

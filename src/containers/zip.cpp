#include "containers/zip.h"

#include <algorithm>

#include "containers/limits.h"
#include "core/sort.h"
#include "core/text.h"

namespace id2vec {
namespace {

constexpr uint32_t kLocalSignature = 0x04034B50, kCentralSignature = 0x02014B50, kEndSignature = 0x06054B50;
constexpr uint32_t kEnd64Signature = 0x06064B50, kLocator64Signature = 0x07064B50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr size_t kLongestComment = 0xFFFF;
constexpr uint32_t kIn64 = 0xFFFFFFFF;  // "see the zip64 extra field"
constexpr uint16_t kEncrypted = 1 << 0, kDescriptor = 1 << 3, kStrongEncryption = 1 << 6,
                   kMaskedHeaders = 1 << 13;

struct Central {
  uint64_t entries = 0, offset = 0, size = 0;
  uint64_t end = 0;  // where the records behind the central directory start
};

// Sizes and offset of a header, widened by its zip64 extra field: the values that are 0xFFFFFFFF in the
// header follow there in this order.
struct Widened {
  uint64_t size = 0, compressed = 0, offset = 0;
  bool complete = true;
};

Widened widen(uint32_t size, uint32_t compressed, uint32_t offset, Bytes extra) {
  Widened wide{size, compressed, offset};
  if (size != kIn64 && compressed != kIn64 && offset != kIn64) return wide;
  while (extra.size() >= 4) {
    const uint16_t id = load_le<uint16_t>(extra.data());
    const size_t length = load_le<uint16_t>(extra.data() + 2);
    extra = extra.subspan(4);
    if (length > extra.size()) break;
    if (id == 1) {
      Bytes field = extra.first(length);
      for (uint64_t* value : {&wide.size, &wide.compressed, &wide.offset}) {
        if (*value != kIn64) continue;
        if (field.size() < 8) break;
        *value = load_le<uint64_t>(field.data());
        field = field.subspan(8);
        if (*value == kIn64) return wide;  // exactly 2³² − 1: the next value must not take its place again
      }
    }
    extra = extra.subspan(length);
  }
  wide.complete = wide.size != kIn64 && wide.compressed != kIn64 && wide.offset != kIn64;
  return wide;
}

Status bad_archive(std::string_view file, auto... parts) {
  return fail(Code::kMalformed, "zip archive ", quoted(file), ": ", parts...);
}

// The end record is the last thing in the file, but for a comment of at most 65,535 bytes.
Result<uint64_t> find_end(FileSet& files, std::string_view file, uint64_t file_size) {
  const uint64_t window = std::min<uint64_t>(file_size, kEndBytes + kLongestComment);
  ID2VEC_ASSIGN(const Bytes tail, files.read(file, file_size - window, window));
  for (size_t at = tail.size() - kEndBytes + 1; at-- > 0;) {
    if (load_le<uint32_t>(&tail[at]) != kEndSignature) continue;
    const size_t comment = load_le<uint16_t>(&tail[at + 20]);
    if (at + kEndBytes + comment == tail.size()) return file_size - window + at;
  }
  return fail(Code::kTruncated, "zip archive ", quoted(file),
              " has no end record: the file was cut off, download it again");
}

Result<Central> read_end64(FileSet& files, std::string_view file, uint64_t locator_offset) {
  ID2VEC_ASSIGN(const Bytes locator, files.read(file, locator_offset, kLocator64Bytes));
  const uint64_t offset = load_le<uint64_t>(&locator[8]);
  if (load_le<uint32_t>(&locator[4]) != 0 || load_le<uint32_t>(&locator[16]) > 1) {
    return bad_archive(file, "it spans several disks, join them first");
  }
  if (locator_offset < kEnd64Bytes || offset > locator_offset - kEnd64Bytes) {
    return bad_archive(file, "its zip64 end record lies at ", offset, ", behind its own locator");
  }
  ID2VEC_ASSIGN(const Bytes end, files.read(file, offset, kEnd64Bytes));
  if (load_le<uint32_t>(&end[0]) != kEnd64Signature)
    return bad_archive(file, "there is no zip64 end record at ", offset);
  Central central{load_le<uint64_t>(&end[32]), load_le<uint64_t>(&end[48]), load_le<uint64_t>(&end[40]),
                  offset};
  if (load_le<uint32_t>(&end[16]) != 0 || load_le<uint64_t>(&end[24]) != central.entries) {
    return bad_archive(file, "it spans several disks, join them first");
  }
  return central;
}

Result<Central> find_central(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const uint64_t file_size, files.size(file));
  if (file_size < kEndBytes)
    return fail(Code::kTruncated, "zip archive ", quoted(file), " has only ", file_size, " bytes");
  ID2VEC_ASSIGN(const uint64_t end_offset, find_end(files, file, file_size));
  ID2VEC_ASSIGN(const Bytes end, files.read(file, end_offset, kEndBytes));
  const uint16_t disk = load_le<uint16_t>(&end[4]), disk_entries = load_le<uint16_t>(&end[8]);
  Central central{load_le<uint16_t>(&end[10]), load_le<uint32_t>(&end[16]), load_le<uint32_t>(&end[12]),
                  end_offset};
  if (central.entries == 0xFFFF || central.offset == kIn64 || central.size == kIn64) {
    if (end_offset >= kLocator64Bytes) {
      ID2VEC_ASSIGN(const Bytes locator, files.read(file, end_offset - kLocator64Bytes, 4));
      if (load_le<uint32_t>(locator.data()) == kLocator64Signature) {
        return read_end64(files, file, end_offset - kLocator64Bytes);
      }
    }
  }
  if (disk != 0 || disk_entries != central.entries)
    return bad_archive(file, "it spans several disks, join them first");
  return central;
}

Status check_central(std::string_view file, const Central& central) {
  if (central.offset > central.end || central.size > central.end - central.offset) {
    return bad_archive(file, "its central directory (", central.size, " bytes at ", central.offset,
                       ") passes its end record at ", central.end);
  }
  if (central.size > limits::kZipDirectoryBytes) {
    return fail(Code::kLimit, "zip archive ", quoted(file), ": its central directory has ", central.size,
                " bytes, more than ", limits::kZipDirectoryBytes);
  }
  if (central.entries > central.size / kCentralBytes) {
    return bad_archive(file, "it claims ", central.entries, " entries in a central directory of ",
                       central.size, " bytes");
  }
  return {};
}

// A name that would leave the folder it is unpacked to, or that is none.
bool is_safe_name(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.size() > limits::kNameBytes) return false;
  if (name.find('\\') != name.npos || name.find('\0') != name.npos || name.find(':') != name.npos)
    return false;
  while (true) {
    const size_t slash = name.find('/');
    if (name.substr(0, slash) == "..") return false;
    if (slash == name.npos) return true;
    name = name.substr(slash + 1);
  }
}

Status check_entry(std::string_view file, const ZipEntry& entry, uint64_t central_offset) {
  const std::string name = quoted(entry.name);
  if (!is_safe_name(entry.name))
    return bad_archive(file, "the entry name ", name, " is not a plain relative path");
  if (entry.flags & (kEncrypted | kStrongEncryption | kMaskedHeaders)) {
    return fail(Code::kUnsupported, "zip archive ", quoted(file), ": entry ", name,
                " is encrypted, decrypt it first");
  }
  if (entry.method == ZipEntry::kStored && entry.compressed != entry.size) {
    return bad_archive(file, "entry ", name, " is stored but has two sizes, ", entry.compressed, " and ",
                       entry.size);
  }
  if (entry.method == ZipEntry::kDeflated && entry.size / limits::kDeflateRatio > entry.compressed) {
    return bad_archive(file, "entry ", name, " claims ", entry.size, " bytes out of ", entry.compressed,
                       ", more than deflate can make");
  }
  const uint64_t room = central_offset - std::min(central_offset, entry.header_offset);
  if (room < kLocalBytes || entry.compressed > room - kLocalBytes) {
    return bad_archive(file, "entry ", name, " (", entry.compressed, " bytes, header at ",
                       entry.header_offset, ") passes the central directory at ", central_offset);
  }
  return {};
}

// Takes one record off the front of `rest`.
Result<ZipEntry> parse_central(std::string_view file, Bytes& rest, uint64_t central_offset) {
  if (rest.size() < kCentralBytes || load_le<uint32_t>(&rest[0]) != kCentralSignature) {
    return bad_archive(file, "its central directory breaks off or holds something else");
  }
  const size_t name_bytes = load_le<uint16_t>(&rest[28]), extra_bytes = load_le<uint16_t>(&rest[30]);
  const size_t comment_bytes = load_le<uint16_t>(&rest[32]);
  if (rest.size() - kCentralBytes < name_bytes + extra_bytes + comment_bytes) {
    return bad_archive(file, "its central directory breaks off inside a name");
  }
  ZipEntry entry;
  entry.name.assign(reinterpret_cast<const char*>(&rest[0]) + kCentralBytes, name_bytes);
  entry.flags = load_le<uint16_t>(&rest[8]);
  entry.method = load_le<uint16_t>(&rest[10]);
  const Widened wide =
      widen(load_le<uint32_t>(&rest[24]), load_le<uint32_t>(&rest[20]), load_le<uint32_t>(&rest[42]),
            rest.subspan(kCentralBytes + name_bytes, extra_bytes));
  if (!wide.complete) return bad_archive(file, "entry ", quoted(entry.name), " lacks its zip64 sizes");
  entry.size = wide.size;
  entry.compressed = wide.compressed;
  entry.header_offset = wide.offset;
  rest = rest.subspan(kCentralBytes + name_bytes + extra_bytes + comment_bytes);
  ID2VEC_RETURN_IF_ERROR(check_entry(file, entry, central_offset));
  return entry;
}

// Sorts by position, sets end_limit, and refuses entries that share bytes.
Status lay_out(std::string_view file, std::vector<ZipEntry>& entries, uint64_t central_offset) {
  heap_sort(entries, [](const ZipEntry& a, const ZipEntry& b) { return a.header_offset < b.header_offset; });
  for (size_t i = 0; i < entries.size(); ++i) {
    ZipEntry& entry = entries[i];
    entry.end_limit = i + 1 < entries.size() ? entries[i + 1].header_offset : central_offset;
    if (entry.end_limit - entry.header_offset < kLocalBytes + entry.name.size() + entry.compressed) {
      return bad_archive(file, "entry ", quoted(entry.name), " overlaps what follows it at ",
                         entry.end_limit);
    }
  }
  return {};
}

Status refuse_duplicates(std::string_view file, const std::vector<ZipEntry>& entries) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const ZipEntry& entry : entries) names.push_back(entry.name);
  heap_sort(names);
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) return bad_archive(file, "two entries are called ", quoted(*twice));
  return {};
}

// The local header repeats what the central directory says; where sizes follow the data (bit 3) it may say 0.
bool sizes_agree(const ZipEntry& entry, const Widened& local) {
  if (entry.size == local.size && entry.compressed == local.compressed) return true;
  return (entry.flags & kDescriptor) && local.size == 0 && local.compressed == 0;
}

}  // namespace

bool is_zip(Bytes head) { return head.size() >= 4 && load_le<uint32_t>(head.data()) == kLocalSignature; }

std::string_view first_zip_name(Bytes head) {
  if (!is_zip(head) || head.size() < kLocalBytes) return {};
  const size_t name_bytes = load_le<uint16_t>(&head[26]);
  if (head.size() - kLocalBytes < name_bytes) return {};
  return {reinterpret_cast<const char*>(head.data()) + kLocalBytes, name_bytes};
}

Result<std::vector<ZipEntry>> read_zip(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const Central central, find_central(files, file));
  ID2VEC_RETURN_IF_ERROR(check_central(file, central));
  ID2VEC_ASSIGN(Bytes rest, files.read(file, central.offset, central.size));
  std::vector<ZipEntry> entries;
  entries.reserve(central.entries);
  for (uint64_t i = 0; i < central.entries; ++i) {
    ID2VEC_ASSIGN(ZipEntry entry, parse_central(file, rest, central.offset));
    entries.push_back(std::move(entry));
  }
  if (!rest.empty())
    return bad_archive(file, "its central directory has ", rest.size(), " bytes more than its ",
                       central.entries, " entries");
  ID2VEC_RETURN_IF_ERROR(lay_out(file, entries, central.offset));
  ID2VEC_RETURN_IF_ERROR(refuse_duplicates(file, entries));
  return entries;
}

Result<uint64_t> zip_data_offset(FileSet& files, std::string_view file, const ZipEntry& entry) {
  const std::string name = quoted(entry.name);
  ID2VEC_ASSIGN(Bytes local, files.read_between(file, entry.header_offset, kLocalBytes));
  if (load_le<uint32_t>(&local[0]) != kLocalSignature) {
    return bad_archive(file, "entry ", name, " has no local header at ", entry.header_offset);
  }
  const uint64_t header_bytes =
      uint64_t{kLocalBytes} + load_le<uint16_t>(&local[26]) + load_le<uint16_t>(&local[28]);
  const size_t name_bytes = load_le<uint16_t>(&local[26]);
  const uint64_t room = entry.end_limit - entry.header_offset;
  if (header_bytes > room || entry.compressed > room - header_bytes) {
    return bad_archive(file, "entry ", name, " overlaps what follows it at ", entry.end_limit);
  }
  ID2VEC_ASSIGN(local, files.read_between(file, entry.header_offset, header_bytes));
  const std::string_view local_name(reinterpret_cast<const char*>(&local[0]) + kLocalBytes, name_bytes);
  const Widened wide = widen(load_le<uint32_t>(&local[22]), load_le<uint32_t>(&local[18]), 0,
                             local.subspan(kLocalBytes + name_bytes));
  if (local_name != entry.name || load_le<uint16_t>(&local[8]) != entry.method ||
      ((load_le<uint16_t>(&local[6]) ^ entry.flags) & kEncrypted) != 0 || !sizes_agree(entry, wide)) {
    return bad_archive(file, "the local header at ", entry.header_offset,
                       " disagrees with the central directory about entry ", name);
  }
  return entry.header_offset + header_bytes;
}

Result<ZipContent> zip_content(FileSet& files, std::string_view file, const ZipEntry& entry) {
  ID2VEC_ASSIGN(const uint64_t offset, zip_data_offset(files, file, entry));
  if (entry.method == ZipEntry::kStored) return ZipContent{std::string(file), offset, entry.size};
  if (entry.method != ZipEntry::kDeflated) {
    return fail(Code::kUnsupported, "zip archive ", quoted(file), ": entry ", quoted(entry.name),
                " uses compression method ", entry.method,
                "; only stored and deflated entries are read, so pack it again");
  }
  const std::string name = concat(file, "!", entry.name);
  files.declare_deflated(name, {std::string(file), offset, entry.compressed, entry.size});
  return ZipContent{name, 0, entry.size};
}

}  // namespace id2vec

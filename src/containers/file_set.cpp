#include "containers/file_set.h"

#include <algorithm>

#include "containers/limits.h"
#include "core/text.h"

namespace id2vec {

FileSet::FileSet(std::string root) : root_(std::move(root)) {}

FileSet::File& FileSet::entry(std::string_view file) {
  const auto found = files_.find(file);
  if (found != files_.end()) return found->second;
  return files_.emplace(std::string(file), File{}).first->second;
}

Status FileSet::need(Want want) {
  want_ = std::move(want);
  return Status(Code::kNeedBytes, {});
}

Result<uint64_t> FileSet::size(std::string_view file) {
  const File& known = entry(file);
  if (known.missing) return fail(Code::kNotFound, file, ": there is no such file");
  if (!known.size) return need({.file = std::string(file)});
  return *known.size;
}

Result<bool> FileSet::exists(std::string_view file) {
  const File& known = entry(file);
  if (known.missing) return false;
  if (!known.size) return need({.file = std::string(file), .optional = true});
  return true;
}

Bytes FileSet::available(std::string_view file, uint64_t offset) const {
  const auto found = files_.find(file);
  if (found == files_.end()) return {};
  for (const Segment& segment : found->second.segments) {
    if (segment.offset > offset || segment.end() <= offset) continue;
    return Bytes(segment.bytes).subspan(offset - segment.offset);
  }
  return {};
}

Result<Bytes> FileSet::read(std::string_view file, uint64_t offset, uint64_t length) {
  // Asking for as much again as is there already makes the number of restarts logarithmic.
  return read(file, offset, length,
              std::max(limits::kFirstRequest, uint64_t{available(file, offset).size()}));
}

Result<Bytes> FileSet::read_between(std::string_view file, uint64_t offset, uint64_t length) {
  return read(file, offset, length, limits::kShortRequest);
}

Result<Bytes> FileSet::read(std::string_view file, uint64_t offset, uint64_t length, uint64_t least_request) {
  ID2VEC_ASSIGN(const uint64_t file_size, size(file));
  const std::optional<uint64_t> end = checked_add(offset, length);
  if (!end || *end > file_size) {
    return fail(Code::kTruncated, file, ": ", length, " bytes at byte ", offset,
                " are needed, but the file ends at byte ", file_size);
  }
  const Bytes held = available(file, offset);
  if (held.size() >= length) return held.first(length);
  if (length > limits::kHeldBytes) {
    return fail(Code::kLimit, file, ": a header of ", length, " bytes is longer than the limit of ",
                limits::kHeldBytes);
  }
  const uint64_t start = offset + held.size();
  const uint64_t grow = std::max(*end - start, least_request);
  return need({.file = std::string(file),
               .offset = start,
               .length = *end - start,
               .suggested = std::min(grow, file_size - start)});
}

void FileSet::declare_deflated(const std::string& name, DeflatedRange range) {
  entry(name).size = range.inflated;
  deflated_.insert_or_assign(name, std::move(range));
}

const DeflatedRange* FileSet::deflated(std::string_view file) const {
  const auto found = deflated_.find(file);
  return found == deflated_.end() ? nullptr : &found->second;
}

void FileSet::set_size(std::string_view file, uint64_t size) {
  File& known = entry(file);
  known.size = size;
  known.missing = false;
}

void FileSet::set_missing(std::string_view file) {
  File& known = entry(file);
  known.missing = true;
  known.segments.clear();
}

FileSet::Segment* FileSet::join_segments(File& file, uint64_t offset, uint64_t end) {
  auto& segments = file.segments;
  const auto first =
      std::find_if(segments.begin(), segments.end(), [&](const Segment& s) { return s.end() >= offset; });
  const auto last = std::find_if(first, segments.end(), [&](const Segment& s) { return s.offset > end; });
  if (first == last) {
    Segment fresh{.offset = offset, .bytes = {}};
    if (!fresh.bytes.resize(end - offset)) return nullptr;
    return &*segments.insert(first, std::move(fresh));
  }
  const uint64_t joined_start = std::min(offset, first->offset);
  const uint64_t joined_end = std::max(end, (last - 1)->end());
  const uint64_t old_size = first->bytes.size();
  if (!first->bytes.resize(joined_end - joined_start)) return nullptr;
  uint8_t* base = first->bytes.data();
  std::memmove(base + (first->offset - joined_start), base, old_size);
  for (auto next = first + 1; next != last; ++next) {
    std::memcpy(base + (next->offset - joined_start), next->bytes.data(), next->bytes.size());
  }
  first->offset = joined_start;
  segments.erase(first + 1, last);
  return &*first;
}

Result<MutableBytes> FileSet::feed(std::string_view file, uint64_t offset, uint64_t length) {
  File& known = entry(file);
  const std::optional<uint64_t> end = checked_add(offset, length);
  if (!end || (known.size && *end > *known.size)) {
    return fail(Code::kInvalidArgument, file, ": ", length, " bytes at byte ", offset,
                " were handed over, but they pass the end of the file");
  }
  if (length == 0) return MutableBytes{};
  if (held() + length > limits::kHeldBytes) {
    return fail(Code::kLimit, file, ": headers of more than ", limits::kHeldBytes,
                " bytes in all are not read");
  }
  Segment* segment = join_segments(known, offset, *end);
  if (segment == nullptr)
    return fail(Code::kOutOfMemory, file, ": there is no memory for ", length, " bytes of its header");
  return MutableBytes(segment->bytes).subspan(offset - segment->offset, length);
}

void FileSet::drop_bytes() {
  for (auto& [name, file] : files_) file.segments.clear();
}

uint64_t FileSet::held() const {
  uint64_t sum = 0;
  for (const auto& [name, file] : files_) {
    for (const Segment& segment : file.segments) sum += segment.bytes.size();
  }
  return sum;
}

bool is_sibling_name(std::string_view name) {
  if (name.empty() || name.front() == '/') return false;
  if (name.find_first_of(":\\?#") != std::string_view::npos || name.find('\0') != std::string_view::npos)
    return false;
  while (!name.empty()) {
    const size_t slash = name.find('/');
    if (name.substr(0, slash) == "..") return false;
    name = slash == std::string_view::npos ? std::string_view{} : name.substr(slash + 1);
  }
  return true;
}

}  // namespace id2vec

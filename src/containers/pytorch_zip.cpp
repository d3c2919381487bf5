#include <algorithm>
#include <map>
#include <optional>

#include "containers/limits.h"
#include "containers/pytorch.h"
#include "containers/torch_tensor.h"
#include "containers/zip.h"
#include "core/sort.h"
#include "core/text.h"

namespace id2vec {
namespace {

// torch.save pads the local header so that the data starts at a multiple of this.
constexpr uint64_t kAlignment = 64;

// Entries of the archive by name.
class Archive {
 public:
  explicit Archive(std::vector<ZipEntry> entries) : entries_(std::move(entries)) {
    for (const ZipEntry& entry : entries_) by_name_.push_back(&entry);
    heap_sort(by_name_, [](auto* a, auto* b) { return a->name < b->name; });
  }
  Archive(const Archive&) = delete;

  const ZipEntry* find(std::string_view name) const {
    const auto found =
        std::lower_bound(by_name_.begin(), by_name_.end(), name,
                         [](const ZipEntry* entry, std::string_view n) { return entry->name < n; });
    return found != by_name_.end() && (*found)->name == name ? *found : nullptr;
  }
  const std::vector<ZipEntry>& entries() const { return entries_; }

 private:
  std::vector<ZipEntry> entries_;
  std::vector<const ZipEntry*> by_name_;
};

// Where torch.save puts the data of a stored entry, told from the central directory alone: the padding rule
// must leave exactly the room that the entry has. nullopt for archives of other writers. This saves a request
// for each of the hundreds of local headers that lie between the weights. Source: getPadding() in
// caffe2/serialize/inline_container.cc; the descriptor behind the data is miniz's.
std::optional<uint64_t> predicted_offset(const ZipEntry& entry) {
  constexpr uint64_t kLocalHeader = 30, kExtraHeader = 4, kLarge = 0xFFFFFFFF;
  constexpr uint16_t kDescriptorFlag = 1 << 3;
  if (entry.method != ZipEntry::kStored) return std::nullopt;
  uint64_t start = entry.header_offset + kLocalHeader + entry.name.size() + kExtraHeader;
  const bool large = entry.size >= kLarge || entry.header_offset >= kLarge;
  if (large)
    start += kExtraHeader + (entry.size >= kLarge ? 16 : 0) + (entry.header_offset >= kLarge ? 8 : 0);
  start = (start + kAlignment - 1) / kAlignment * kAlignment;
  const uint64_t descriptor = !(entry.flags & kDescriptorFlag) ? 0 : large ? 24 : 16;
  return start + entry.size + descriptor == entry.end_limit ? std::optional(start) : std::nullopt;
}

class ZipStorages final : public TorchStorages {
 public:
  ZipStorages(FileSet& files, std::string_view file, const Archive& archive, std::string folder,
              Directory& directory)
      : files_(files), file_(file), archive_(archive), folder_(std::move(folder)), directory_(directory) {}

  Result<TorchBytes> find(const TorchStorage& storage) override {
    const std::string name = concat(folder_, "data/", storage.key);
    const ZipEntry* entry = archive_.find(name);
    if (entry == nullptr) return fail(Code::kMalformed, file_, ": the archive has no entry ", quoted(name));
    const std::optional<uint64_t> bytes = checked_mul(storage.count, storage.item_bytes);
    if (!bytes || *bytes > entry->size) {
      return fail(Code::kMalformed, file_, ": entry ", quoted(name), " has ", entry->size,
                  " bytes, too few for ", storage.count, " elements of ", storage.item_bytes);
    }
    return place(*entry);
  }

 private:
  Result<TorchBytes> place(const ZipEntry& entry) {
    // One local header is read whatever the rule says, and with it the rule is trusted for the others.
    if (const std::optional<uint64_t> offset = predicted_offset(entry); offset && checked_one_) {
      return TorchBytes{0, *offset, entry.size};
    }
    ID2VEC_ASSIGN(const ZipContent content, zip_content(files_, file_, entry));
    checked_one_ = true;
    ID2VEC_ASSIGN(const uint32_t file_index, file_of(entry, content));
    return TorchBytes{file_index, content.offset, content.size};
  }

  // A deflated entry is a file of its own in the directory, once for all tensors on it.
  Result<uint32_t> file_of(const ZipEntry& entry, const ZipContent& content) {
    if (entry.method == ZipEntry::kStored) return uint32_t{0};
    uint32_t& index = virtual_files_[&entry];
    if (index != 0) return index;
    if (directory_.files.size() >= limits::kFiles) {
      return fail(Code::kLimit, file_, ": more than ", limits::kFiles,
                  " compressed entries; unpack the archive and pack it uncompressed");
    }
    index = static_cast<uint32_t>(directory_.files.size());
    directory_.files.push_back(content.file);
    return index;
  }

  FileSet& files_;
  std::string_view file_;
  const Archive& archive_;
  std::string folder_;
  Directory& directory_;
  std::map<const ZipEntry*, uint32_t> virtual_files_;
  bool checked_one_ = false;
};

// "NAME/data.pkl", or nothing before it.
const ZipEntry* find_pickle(const Archive& archive) {
  for (const ZipEntry& entry : archive.entries()) {
    const size_t slash = entry.name.find('/');
    if (entry.name.substr(slash == entry.name.npos ? 0 : slash + 1) == "data.pkl") return &entry;
  }
  return nullptr;
}

Result<Bytes> read_entry(FileSet& files, std::string_view file, const ZipEntry& entry, uint64_t limit) {
  if (entry.size > limit) {
    return fail(Code::kLimit, file, ": entry ", quoted(entry.name), " has ", entry.size, " bytes, more than ",
                limit);
  }
  ID2VEC_ASSIGN(const ZipContent content, zip_content(files, file, entry));
  return files.read(content.file, content.offset, content.size);
}

Result<bool> is_big_endian(FileSet& files, std::string_view file, const ZipEntry* entry) {
  if (entry == nullptr) return false;  // archives before PyTorch 2.1 have none and are little-endian
  ID2VEC_ASSIGN(const Bytes bytes, read_entry(files, file, *entry, 64));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text == "little") return false;
  if (text == "big") return true;
  return fail(Code::kMalformed, file, ": the byte order ", quoted(text), " is neither 'little' nor 'big'");
}

}  // namespace

bool is_pytorch_zip(Bytes head, uint64_t) { return is_zip(head) && !first_zip_name(head).ends_with(".npy"); }

Result<Directory> read_pytorch_zip(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(std::vector<ZipEntry> entries, read_zip(files, file));
  const Archive archive(std::move(entries));
  const ZipEntry* pickle_entry = find_pickle(archive);
  if (pickle_entry == nullptr) {
    return fail(
        Code::kUnsupported, file,
        ": this zip archive has no data.pkl (torch.save) and does not begin with a .npy entry (numpy.savez); "
        "unpack it and open the model file inside");
  }
  ID2VEC_ASSIGN(const Bytes bytes, read_entry(files, file, *pickle_entry, limits::kPickleBytes));
  const std::string folder =
      pickle_entry->name.substr(0, pickle_entry->name.size() - std::string_view("data.pkl").size());
  ID2VEC_ASSIGN(const bool big_endian, is_big_endian(files, file, archive.find(folder + "byteorder")));
  ID2VEC_ASSIGN(const Pickle pickle, read_pickle(concat(file, ", ", pickle_entry->name), bytes));
  Directory directory;
  directory.container = "PyTorch";
  directory.file_index(file);
  ZipStorages storages(files, file, archive, folder, directory);
  ID2VEC_RETURN_IF_ERROR(add_torch_tensors(file, pickle, storages, big_endian, directory));
  return directory;
}

}  // namespace id2vec

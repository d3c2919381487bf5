#include <algorithm>
#include <map>

#include "containers/limits.h"
#include "containers/pytorch.h"
#include "containers/torch_tensor.h"
#include "core/text.h"

namespace id2vec {
namespace {

using Kind = PickleValue::Kind;

// 0x1950A86A20F9469CFC6C, little-endian: what the first pickle of the file must hold.
constexpr std::string_view kMagic = "\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19";
// The same in protocol 1, as text.
constexpr std::string_view kMagicDigits = "119547037146038801333356";
constexpr int64_t kProtocol = 1001;
constexpr uint64_t kFirstWindow = uint64_t{64} << 10;

// The five pickles at the start of the file.
struct Pickles {
  Pickle magic, protocol, system, object, keys;
  uint64_t end = 0;  // where the first storage starts
};

Result<Pickles> parse(std::string_view file, Bytes bytes) {
  Pickles pickles;
  for (auto part :
       {&Pickles::magic, &Pickles::protocol, &Pickles::system, &Pickles::object, &Pickles::keys}) {
    ID2VEC_ASSIGN(pickles.*part, read_pickle(file, bytes.subspan(pickles.end)));
    pickles.end += (pickles.*part).bytes;
    const PickleValue& magic = pickles.magic[pickles.magic.root];
    if (magic.kind != Kind::kBigInt || (magic.text != kMagic && magic.text != kMagicDigits)) {
      return fail(
          Code::kUnsupported, file,
          ": this is a Python pickle, but none that torch.save wrote; id2vec executes no pickle, so save its "
          "arrays with numpy.save or as safetensors");
    }
  }
  return pickles;
}

// Nothing says how long the pickles are: they are tried on a window that doubles until it holds their ends.
Result<Pickles> read_pickles(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const uint64_t file_size, files.size(file));
  for (uint64_t window = kFirstWindow;; window *= 2) {
    const uint64_t length = std::min(window, file_size);
    ID2VEC_ASSIGN(const Bytes bytes, files.read(file, 0, length));
    Result<Pickles> pickles = parse(file, bytes);
    if (pickles.ok() || pickles.status().code() != Code::kTruncated || length == file_size) return pickles;
    if (window >= limits::kPickleBytes) {
      return fail(Code::kLimit, file, ": its pickles take more than ", limits::kPickleBytes, " bytes");
    }
  }
}

Status check_protocol(std::string_view file, const Pickles& pickles) {
  const PickleValue& protocol = pickles.protocol[pickles.protocol.root];
  if (protocol.kind == Kind::kInt && protocol.integer == kProtocol) return {};
  return fail(Code::kUnsupported, file, ": PyTorch's legacy container has protocol ", protocol.integer,
              ", known is ", kProtocol);
}

bool is_big_endian(const Pickle& system) {
  const std::vector<PickleRef>& items = system[system.root].items;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    const PickleValue& value = system[items[i + 1]];
    if (system[items[i]].text == "little_endian" && value.kind == Kind::kBool) return value.integer == 0;
  }
  return false;
}

// Storages lie one behind the other in the order of the key list; each starts with its count, which the
// pickle has too. Their sizes add up to the end of the file, and that is checked in place of every single
// count.
class LegacyStorages final : public TorchStorages {
 public:
  static Result<LegacyStorages> locate(std::string_view file, uint64_t file_size, const Pickles& pickles) {
    LegacyStorages all;
    all.file_ = file;
    ID2VEC_RETURN_IF_ERROR(all.collect(pickles.object));
    ID2VEC_RETURN_IF_ERROR(all.lay_out(pickles, file_size));
    return all;
  }

  Result<TorchBytes> find(const TorchStorage& storage) override {
    const auto found = sizes_.find(storage.key);
    if (found == sizes_.end() || !found->second.placed) {
      return fail(Code::kMalformed, file_, ": storage ", quoted(storage.key),
                  " is not in the file's list of storages");
    }
    return TorchBytes{0, found->second.offset, found->second.bytes};
  }

 private:
  struct Place {
    uint64_t bytes = 0, offset = 0;
    bool placed = false;
  };

  Status collect(const Pickle& pickle) {
    for (PickleRef ref = 0; ref < pickle.values.size(); ++ref) {
      if (pickle[ref].kind != Kind::kPersistent) continue;
      const std::optional<TorchStorage> storage = torch_storage(pickle, ref);
      if (!storage) return fail(Code::kUnsupported, file_, ": a persistent id of its pickle is no storage");
      const std::optional<uint64_t> bytes = checked_mul(storage->count, storage->item_bytes);
      const std::optional<uint64_t> view_end = checked_add(storage->view_offset, storage->view_count);
      if (!bytes || !view_end || *view_end > storage->count) {
        return fail(Code::kMalformed, file_, ": storage ", quoted(storage->key), " of ", storage->count,
                    " elements does not hold its own view, or passes 64 bits");
      }
      const auto [known, fresh] = sizes_.try_emplace(storage->key, Place{*bytes});
      if (!fresh && known->second.bytes != *bytes) {
        return fail(Code::kMalformed, file_, ": storage ", quoted(storage->key), " is said to have ",
                    known->second.bytes, " bytes and ", *bytes, " bytes");
      }
    }
    return {};
  }

  Status lay_out(const Pickles& pickles, uint64_t file_size) {
    uint64_t at = pickles.end;
    for (const PickleRef ref : pickles.keys[pickles.keys.root].items) {
      const std::string_view key = pickles.keys[ref].text;
      const auto found = sizes_.find(key);
      if (found == sizes_.end() || found->second.placed) {
        return fail(Code::kMalformed, file_, ": the list of storages names ", quoted(key), " ",
                    found == sizes_.end() ? "which no tensor uses" : "twice");
      }
      Place& place = found->second;
      if (file_size - at < sizeof(uint64_t) || file_size - at - sizeof(uint64_t) < place.bytes) {
        return fail(Code::kTruncated, file_, ": storage ", quoted(key), " of ", place.bytes,
                    " bytes at byte ", at, " passes the end of the file at byte ", file_size,
                    "; download it again");
      }
      place.offset = at + sizeof(uint64_t);
      place.placed = true;
      at = place.offset + place.bytes;
    }
    if (at == file_size) return {};
    return fail(Code::kMalformed, file_, ": its storages end at byte ", at, ", but the file at byte ",
                file_size);
  }

  std::string_view file_;
  std::map<std::string_view, Place> sizes_;
};

}  // namespace

bool is_pytorch_legacy(Bytes head, uint64_t) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with('L') && text.substr(1).starts_with(kMagicDigits)) return true;
  // A pickle of protocol 2 to 5. (A safetensors file may start with these two bytes too, as the low end of
  // its header's length; but then a zero follows within the number, and the header's brace after it.)
  if (head.size() < 3 || head[0] != 0x80 || head[1] < 2 || head[1] > 5) return false;
  return head.size() < 9 || head[7] != 0 || head[8] != '{';
}

Result<Directory> read_pytorch_legacy(FileSet& files, std::string_view file) {
  ID2VEC_ASSIGN(const Pickles pickles, read_pickles(files, file));
  ID2VEC_RETURN_IF_ERROR(check_protocol(file, pickles));
  ID2VEC_ASSIGN(const uint64_t file_size, files.size(file));
  ID2VEC_ASSIGN(LegacyStorages storages, LegacyStorages::locate(file, file_size, pickles));
  Directory directory;
  directory.container = "PyTorch";
  directory.file_index(file);
  ID2VEC_RETURN_IF_ERROR(
      add_torch_tensors(file, pickles.object, storages, is_big_endian(pickles.system), directory));
  return directory;
}

}  // namespace id2vec

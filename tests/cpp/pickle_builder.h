// Writes pickles instruction by instruction, and whole checkpoints as torch.save lays them out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "zip_builder.h"

namespace id2vec {

class PickleBuilder {
 public:
  PickleBuilder() { out.raw("\x80\x02"); }

  PickleBuilder& op(std::string_view instruction) { return out.raw(instruction), *this; }
  PickleBuilder& global(std::string_view module, std::string_view name) {
    out.raw("c").raw(module).raw("\n").raw(name).raw("\n");
    return *this;
  }
  PickleBuilder& text(std::string_view text) {
    out.raw("X").put(static_cast<uint32_t>(text.size())).raw(text);
    return *this;
  }
  PickleBuilder& number(int64_t value) {
    out.raw("\x8A\x08").put(value);  // LONG1 takes every 64-bit number
    return *this;
  }
  PickleBuilder& numbers(const std::vector<int64_t>& values) {
    op("(");
    for (const int64_t value : values) number(value);
    return op("t");
  }
  // ("storage", class, key, "cpu", count), then BINPERSID
  PickleBuilder& storage(std::string_view type, std::string_view key, int64_t count) {
    op("(").text("storage").global("torch", type).text(key).text("cpu").number(count);
    return op("tQ");
  }
  // torch._utils._rebuild_tensor_v2(storage, offset, shape, strides, False, OrderedDict())
  PickleBuilder& tensor(std::string_view type, std::string_view key, int64_t count, int64_t offset,
                        const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
    global("torch._utils", "_rebuild_tensor_v2").op("(").storage(type, key, count).number(offset);
    numbers(shape).numbers(strides).op("\x89").global("collections", "OrderedDict").op(")R");
    return op("tR");
  }
  std::vector<uint8_t> stop() {
    out.raw(".");
    return std::move(out.bytes);
  }

 private:
  ByteWriter out;
};

struct TorchData {
  std::string key;
  std::vector<uint8_t> bytes;
};

// archive/data.pkl, archive/byteorder (unless empty) and the storages, 64-byte aligned as torch.save does.
inline ZipBuilder torch_zip(std::vector<uint8_t> pickle, const std::vector<TorchData>& storages,
                            std::string_view byte_order = "little") {
  ZipBuilder zip;
  size_t at = 0;
  const auto add = [&](std::string name, std::vector<uint8_t> data) {
    const size_t start = at + 30 + name.size() + 4;
    const size_t padding = 4 + (64 - start % 64) % 64;
    at += 30 + name.size() + padding + data.size();
    ZipPart part;
    part.name = std::move(name);
    part.data = std::move(data);
    part.padding = padding;
    zip.parts.push_back(std::move(part));
  };
  add("archive/data.pkl", std::move(pickle));
  if (!byte_order.empty()) add("archive/byteorder", bytes_of(byte_order));
  for (const TorchData& storage : storages) add("archive/data/" + storage.key, storage.bytes);
  return zip;
}

// The legacy container. `keys` are the storages in the order of the file.
inline std::vector<uint8_t> torch_legacy(const std::vector<uint8_t>& object,
                                         const std::vector<TorchData>& storages,
                                         const std::vector<uint64_t>& counts, bool little_endian = true) {
  ByteWriter out;
  out.raw("\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.");
  out.raw(std::string_view("\x80\x02M\xE9\x03.", 6));
  PickleBuilder system;
  system.op("}").text("little_endian").op(little_endian ? "\x88" : "\x89").op("s");
  out.raw(Bytes(system.stop())).raw(Bytes(object));
  PickleBuilder keys;
  keys.op("](");
  for (const TorchData& storage : storages) keys.text(storage.key);
  out.raw(Bytes(keys.op("e").stop()));
  for (size_t i = 0; i < storages.size(); ++i) out.put(counts[i]).raw(Bytes(storages[i].bytes));
  return std::move(out.bytes);
}

}  // namespace id2vec

// Makes zip archives for tests, honest ones and others: every number of a header can be overridden.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf_builder.h"  // ByteWriter

namespace id2vec {

struct ZipPart {
  std::string name;
  std::vector<uint8_t> data;  // as stored: deflated by the caller where method is 8
  uint16_t method = 0;
  uint16_t flags = 0;
  std::optional<uint32_t> size{};  // plain size, where it is not that of `data`
  size_t padding = 0;              // bytes of an extra field in the local header
  // What only one of the two headers says.
  std::optional<std::string> local_name{};
  std::optional<uint16_t> local_method{}, local_flags{};
  std::optional<uint32_t> local_size{}, local_compressed{}, central_offset{};
};

class ZipBuilder {
 public:
  std::vector<ZipPart> parts;
  std::string comment{};
  std::optional<uint16_t> entries{}, disk{};
  std::optional<uint32_t> directory_offset{}, directory_size{};
  bool zip64 = false;  // sizes, offsets and counts in the 64-bit records
  std::optional<uint64_t> end64_offset{};

  std::vector<uint8_t> build() const {
    ByteWriter out, directory;
    for (const ZipPart& part : parts) {
      const size_t offset = out.bytes.size();
      put_local(out, part);
      put_central(directory, part, part.central_offset.value_or(static_cast<uint32_t>(offset)));
    }
    const size_t start = out.bytes.size();
    out.raw(Bytes(directory.bytes));
    if (zip64) put_end64(out, start, directory.bytes.size());
    put_end(out, start, directory.bytes.size());
    return std::move(out.bytes);
  }

 private:
  static constexpr uint32_t kIn64 = 0xFFFFFFFF;

  static void put_local(ByteWriter& out, const ZipPart& part) {
    const std::string& name = part.local_name.value_or(part.name);
    const uint32_t compressed = static_cast<uint32_t>(part.data.size());
    out.put<uint32_t>(0x04034B50).put<uint16_t>(20).put(part.local_flags.value_or(part.flags));
    out.put(part.local_method.value_or(part.method)).put<uint32_t>(0).put<uint32_t>(0);
    out.put(part.local_compressed.value_or(compressed));
    out.put(part.local_size.value_or(part.size.value_or(compressed)));
    out.put(static_cast<uint16_t>(name.size())).put(static_cast<uint16_t>(part.padding));
    out.raw(name);
    for (size_t i = 0; i < part.padding; ++i) out.put<uint8_t>(0);
    out.raw(Bytes(part.data));
  }

  void put_central(ByteWriter& out, const ZipPart& part, uint32_t offset) const {
    const uint32_t compressed = static_cast<uint32_t>(part.data.size());
    const uint32_t size = part.size.value_or(compressed);
    out.put<uint32_t>(0x02014B50).put<uint16_t>(20).put<uint16_t>(20).put(part.flags).put(part.method);
    out.put<uint32_t>(0).put<uint32_t>(0).put(zip64 ? kIn64 : compressed).put(zip64 ? kIn64 : size);
    out.put(static_cast<uint16_t>(part.name.size())).put<uint16_t>(zip64 ? 28 : 0).put<uint16_t>(0);
    out.put<uint16_t>(0).put<uint16_t>(0).put<uint32_t>(0).put(zip64 ? kIn64 : offset).raw(part.name);
    if (zip64)
      out.put<uint16_t>(1)
          .put<uint16_t>(24)
          .put<uint64_t>(size)
          .put<uint64_t>(compressed)
          .put<uint64_t>(offset);
  }

  void put_end64(ByteWriter& out, uint64_t start, uint64_t size) const {
    const uint64_t at = out.bytes.size();
    out.put<uint32_t>(0x06064B50).put<uint64_t>(44).put<uint16_t>(45).put<uint16_t>(45);
    out.put<uint32_t>(0).put<uint32_t>(0).put<uint64_t>(parts.size()).put<uint64_t>(parts.size());
    out.put(size).put(start);
    out.put<uint32_t>(0x07064B50).put<uint32_t>(0).put(end64_offset.value_or(at)).put<uint32_t>(1);
  }

  void put_end(ByteWriter& out, size_t start, size_t size) const {
    const uint16_t count = entries.value_or(zip64 ? 0xFFFF : static_cast<uint16_t>(parts.size()));
    out.put<uint32_t>(0x06054B50).put(disk.value_or(0)).put<uint16_t>(0).put(count).put(count);
    out.put(directory_size.value_or(zip64 ? kIn64 : static_cast<uint32_t>(size)));
    out.put(directory_offset.value_or(zip64 ? kIn64 : static_cast<uint32_t>(start)));
    out.put(static_cast<uint16_t>(comment.size())).raw(comment);
  }
};

}  // namespace id2vec

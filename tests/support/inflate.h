// A slow, small inflater (RFC 1951) for tests and fuzz targets: there the driver of a FileSet is C++, and the
// core itself has none. Stops with what it has where the stream is broken or `limit` bytes are out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace id2vec::test {

class Inflater {
 public:
  Inflater(std::span<const uint8_t> in, size_t limit) : in_(in), limit_(limit) {}

  std::vector<uint8_t> run() {
    for (bool last = false; !last && good();) {
      last = bits(1) != 0;
      const uint32_t type = bits(2);
      if (type == 0) {
        stored();
      } else if (type == 1) {
        fixed();
      } else if (type == 2) {
        dynamic();
      } else {
        broken_ = true;
      }
    }
    return std::move(out_);
  }

 private:
  // Canonical Huffman codes: how many there are of each length, and their symbols in order (section 3.2.2).
  struct Codes {
    std::array<uint16_t, 16> count{};
    std::vector<uint16_t> symbols;

    explicit Codes(std::span<const uint8_t> lengths) : symbols(lengths.size()) {
      std::array<uint16_t, 16> at{};
      for (const uint8_t length : lengths) ++count[length];
      count[0] = 0;
      for (size_t i = 1; i < 15; ++i) at[i + 1] = at[i] + count[i];
      for (size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] != 0) symbols[at[lengths[i]]++] = static_cast<uint16_t>(i);
      }
    }
  };

  bool good() const { return !broken_ && out_.size() < limit_; }

  uint32_t bits(int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; ++i, ++bit_) {
      if (bit_ / 8 >= in_.size()) {
        broken_ = true;
        return 0;
      }
      value |= static_cast<uint32_t>(in_[bit_ / 8] >> bit_ % 8 & 1) << i;
    }
    return value;
  }

  uint32_t symbol(const Codes& codes) {
    uint32_t code = 0, first = 0, index = 0;
    for (size_t length = 1; length < 16; ++length) {
      code |= bits(1);
      if (code - first < codes.count[length]) return codes.symbols[index + code - first];
      index += codes.count[length];
      first = (first + codes.count[length]) << 1;
      code <<= 1;
    }
    broken_ = true;
    return 0;
  }

  void put(uint8_t byte) {
    if (out_.size() < limit_) out_.push_back(byte);
  }

  void stored() {
    bit_ = (bit_ + 7) / 8 * 8;
    const uint32_t length = bits(16);
    bits(16);
    for (uint32_t i = 0; i < length && good(); ++i) put(static_cast<uint8_t>(bits(8)));
  }

  void fixed() {
    std::vector<uint8_t> lengths(288, 8);
    for (size_t i = 144; i < 256; ++i) lengths[i] = 9;
    for (size_t i = 256; i < 280; ++i) lengths[i] = 7;
    compressed(Codes(lengths), Codes(std::vector<uint8_t>(30, 5)));
  }

  void dynamic() {
    constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const size_t literals = bits(5) + 257, distances = bits(5) + 1, meta = bits(4) + 4;
    std::vector<uint8_t> meta_lengths(19);
    for (size_t i = 0; i < meta; ++i) meta_lengths[kOrder[i]] = static_cast<uint8_t>(bits(3));
    const Codes meta_codes(meta_lengths);
    std::vector<uint8_t> lengths;
    while (lengths.size() < literals + distances && !broken_) {
      const uint32_t code = symbol(meta_codes);
      if (code < 16) {
        lengths.push_back(static_cast<uint8_t>(code));
      } else if (code == 16 && lengths.empty()) {
        broken_ = true;
      } else {
        const uint8_t value = code == 16 ? lengths.back() : 0;
        lengths.insert(lengths.end(),
                       code == 16   ? 3 + bits(2)
                       : code == 17 ? 3 + bits(3)
                                    : 11 + bits(7),
                       value);
      }
    }
    if (lengths.size() != literals + distances) broken_ = true;
    if (broken_) return;
    const std::span<const uint8_t> all(lengths);
    compressed(Codes(all.first(literals)), Codes(all.subspan(literals)));
  }

  void compressed(const Codes& literals, const Codes& distances) {
    constexpr uint16_t kLength[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    while (good()) {
      uint32_t code = symbol(literals);
      if (code == 256) return;
      if (code < 256) {
        put(static_cast<uint8_t>(code));
        continue;
      }
      code -= 257;
      if (code >= 29) broken_ = true;
      if (broken_) return;
      const size_t length = kLength[code] + bits(code < 8 || code == 28 ? 0 : static_cast<int>(code / 4 - 1));
      const uint32_t distance_code = symbol(distances);
      if (distance_code >= 30) broken_ = true;
      if (broken_) return;
      const int extra = distance_code < 4 ? 0 : static_cast<int>(distance_code / 2 - 1);
      const size_t base =
          distance_code < 4 ? distance_code + 1 : (size_t{2 + distance_code % 2} << extra) + 1;
      const size_t distance = base + bits(extra);
      if (distance > out_.size()) broken_ = true;
      for (size_t i = 0; i < length && good(); ++i) put(out_[out_.size() - distance]);
    }
  }

  std::span<const uint8_t> in_;
  size_t limit_;
  size_t bit_ = 0;
  bool broken_ = false;
  std::vector<uint8_t> out_;
};

}  // namespace id2vec::test

// Which rows of a large table were touched: id → slot, slots numbered in the order of first touch. Memory and
// every operation are proportional to the touched rows, never to V. Open addressing with linear probing.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "core/array.h"

namespace id2vec {

class RowMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  size_t size() const { return ids_.size(); }
  // ids by slot.
  std::span<const uint32_t> ids() const { return ids_.span(); }

  uint32_t find(uint32_t id) const {
    if (table_.size() == 0) return kNone;
    for (size_t probe = start(id);; probe = (probe + 1) & mask()) {
      const uint32_t slot = table_[probe];
      if (slot == 0) return kNone;
      if (ids_[slot - 1] == id) return slot - 1;
    }
  }

  // The slot of `id`, which is added if it is new. kNone if memory ran out; the map is then as it was.
  [[nodiscard]] uint32_t insert(uint32_t id) {
    if (const uint32_t slot = find(id); slot != kNone) return slot;
    if ((ids_.size() + 1) * 2 > table_.size() && !rehash()) return kNone;
    if (!ids_.push_back(id)) return kNone;
    place(id, static_cast<uint32_t>(ids_.size()));
    return static_cast<uint32_t>(ids_.size() - 1);
  }

  // Forgets the slots ≥ count: undoes the latest insertions.
  void truncate(size_t count) {
    while (ids_.size() > count) {
      const size_t last = ids_.size() - 1;
      erase_last(ids_[last]);
      (void)ids_.resize(last);
    }
  }

  void clear() {
    ids_.clear();
    for (uint32_t& slot : table_) slot = 0;
  }

  uint64_t bytes() const { return ids_.capacity_bytes() + table_.capacity_bytes(); }

 private:
  static constexpr size_t kSmallest = 16;

  size_t mask() const { return table_.size() - 1; }
  // Fibonacci hashing: neighbouring ids, the usual case, spread over the whole table.
  size_t start(uint32_t id) const {
    return (id * 2654435769u) >> (32 - std::countr_zero(static_cast<uint32_t>(table_.size())));
  }

  void place(uint32_t id, uint32_t slot_plus_one) {
    size_t probe = start(id);
    while (table_[probe] != 0) probe = (probe + 1) & mask();
    table_[probe] = slot_plus_one;
  }

  // The newest entry has no later entry that probed past it, so its place can simply be emptied.
  void erase_last(uint32_t id) {
    size_t probe = start(id);
    while (table_[probe] != ids_.size()) probe = (probe + 1) & mask();
    table_[probe] = 0;
  }

  [[nodiscard]] bool rehash() {
    Array<uint32_t> grown;
    if (!grown.resize(table_.size() == 0 ? kSmallest : table_.size() * 2)) return false;
    table_.swap(grown);
    for (size_t slot = 0; slot < ids_.size(); ++slot) place(ids_[slot], static_cast<uint32_t>(slot + 1));
    return true;
  }

  Array<uint32_t> ids_;
  Array<uint32_t> table_;  // slot + 1, or 0 where empty; a power of two in size
};

}  // namespace id2vec

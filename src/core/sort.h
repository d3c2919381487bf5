// Puts a few items in order, in little code: a heap sort, O(n log n) whatever the order, no memory, not stable. std::sort
// is faster on millions of numbers and some two kilobytes for every type it is used with; headers hold thousands of names.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace id2vec {

// Restores the heap in items[0, count) below `root`, whose children are heaps.
template <class T, class Less>
void sift_down(T* items, size_t root, size_t count, const Less& less) {
  T moved = std::move(items[root]);
  for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && less(items[child], items[child + 1])) ++child;
    if (!less(moved, items[child])) break;
    items[root] = std::move(items[child]);
    root = child;
  }
  items[root] = std::move(moved);
}

// `less` is a strict weak order, as std::sort wants it.
template <class T, class Less = std::less<>>
void heap_sort(T* items, size_t count, const Less& less = {}) {
  for (size_t root = count / 2; root-- > 0;) sift_down(items, root, count, less);
  for (size_t end = count; end > 1;) {
    std::swap(items[0], items[--end]);
    sift_down(items, 0, end, less);
  }
}

// Of anything with data() and size().
template <class List, class Less = std::less<>>
  requires requires(List& list) { list.data(); }
void heap_sort(List& list, const Less& less = {}) {
  heap_sort(list.data(), list.size(), less);
}

}  // namespace id2vec

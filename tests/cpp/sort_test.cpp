#include "core/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace id2vec {
namespace {

TEST(Sort, PutsEveryShortListInOrder) {
  for (size_t count = 0; count <= 7; ++count) {
    std::vector<int> order(count);
    for (size_t i = 0; i < count; ++i) order[i] = static_cast<int>(i / 2);  // with twins
    const std::vector<int> expected = order;
    do {
      std::vector<int> items = order;
      heap_sort(items);
      ASSERT_EQ(items, expected);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(Sort, AgreesWithTheStandardLibraryOnNamesAndOnAnOrderOfOnesOwn) {
  std::mt19937 random(7);
  std::vector<std::string> names(1000);
  for (std::string& name : names) {
    name = "model.layers." + std::to_string(random() % 700) + ".a name longer than a short string";
  }
  std::vector<std::string> expected = names;
  std::sort(expected.begin(), expected.end());
  heap_sort(names);
  EXPECT_EQ(names, expected);

  const auto shorter = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  };
  std::sort(expected.begin(), expected.end(), shorter);
  heap_sort(names, shorter);
  EXPECT_EQ(names, expected);
}

TEST(Sort, TakesAPartOfAList) {
  std::vector<int> items = {9, 3, 2, 1, 0};
  heap_sort(items.data() + 1, 3);
  EXPECT_EQ(items, (std::vector<int>{9, 1, 2, 3, 0}));
}

}  // namespace
}  // namespace id2vec

// Short vectors: against the standard's, inside themselves and beyond.
#include "base/inline_vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace anyshape {
namespace {

using Short = InlineVector<int, 3>;

Short counted(int count) {
  Short list;
  for (int i = 0; i < count; ++i) list.push_back(i);
  return list;
}

std::vector<int> elements(const Short& list) { return {list.begin(), list.end()}; }

TEST(InlineVector, holds_what_a_vector_holds_at_every_length) {
  std::vector<int> wanted;
  for (int count = 0; count < 20; ++count) {
    const Short list = counted(count);
    EXPECT_EQ(elements(list), wanted);
    EXPECT_EQ(list.size(), wanted.size());
    EXPECT_EQ(list.empty(), wanted.empty());
    EXPECT_EQ(Short(std::span<const int>(wanted)), list);
    if (count > 0) {
      EXPECT_EQ(list.front(), 0);
      EXPECT_EQ(list.back(), count - 1);
    }
    wanted.push_back(count);
  }
}

TEST(InlineVector, copies_are_apart_and_moves_leave_nothing) {
  for (const int count : {2, 3, 4, 9}) {
    Short first = counted(count);
    Short copy = first;
    copy[0] = 77;
    EXPECT_EQ(first[0], 0);
    const Short moved = std::move(first);
    EXPECT_EQ(moved, counted(count));
    first = counted(5);  // may be used again
    EXPECT_EQ(first, counted(5));
    for (const int other : {1, 3, 8}) {
      Short target = counted(other);
      target = moved;
      EXPECT_EQ(target, moved);
      target = counted(other);
      EXPECT_EQ(target, counted(other));
    }
    Short& same = copy;
    copy = same;
    EXPECT_EQ(copy.size(), static_cast<size_t>(count));
  }
}

TEST(InlineVector, erases_and_resizes) {
  for (const int count : {3, 8}) {
    Short list = counted(count);
    std::vector<int> wanted = elements(list);
    EXPECT_EQ(*list.erase(list.begin() + 1), 2);
    wanted.erase(wanted.begin() + 1);
    EXPECT_EQ(elements(list), wanted);
    list.erase(std::remove(list.begin(), list.end(), 0), list.end());
    wanted.erase(wanted.begin());
    EXPECT_EQ(elements(list), wanted);
    list.resize(12, 5);
    wanted.resize(12, 5);
    EXPECT_EQ(elements(list), wanted);
    list.resize(1);
    EXPECT_EQ(list, (Short{2}));
    list.clear();
    EXPECT_TRUE(list.empty());
  }
}

TEST(InlineVector, takes_one_of_its_own_elements) {
  Short list = {4, 5, 6};
  list.push_back(list[1]);  // moves the elements to other memory
  EXPECT_EQ(list, (Short{4, 5, 6, 5}));
}

}  // namespace
}  // namespace anyshape

// Tables by address: against the standard's map, from nothing through several sizes.
#include "base/pointer_table.h"

#include <gtest/gtest.h>

#include <unordered_map>
#include <vector>

namespace anyshape {
namespace {

TEST(PointerTable, holds_what_a_map_holds) {
  const std::vector<int64_t> keys(5000);
  for (const size_t expected : {0UL, 1UL, 100UL, 20000UL}) {
    PointerTable<int64_t, int> table(expected);
    std::unordered_map<const int64_t*, int> map;
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(table.find(keys.data()), nullptr);
    for (size_t i = 0; i < 20000; ++i) {
      const int64_t* const key = &keys[i * i % 4999];
      ++table[key];
      ++map[key];
    }
    EXPECT_EQ(table.size(), map.size());
    for (const int64_t& key : keys) {
      const int* const found = table.find(&key);
      const auto wanted = map.find(&key);
      ASSERT_EQ(found != nullptr, wanted != map.end());
      if (found != nullptr) {
        ASSERT_EQ(*found, wanted->second);
      }
    }
  }
}

}  // namespace
}  // namespace anyshape

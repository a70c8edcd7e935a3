// Lists in blocks: what is in them stays where it is.
#include "base/block_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace anyshape {
namespace {

TEST(BlockList, elements_stay_where_they_are) {
  BlockList<std::string> list;
  std::vector<const std::string*> addresses;
  for (int i = 0; i < 10000; ++i) addresses.push_back(&list.push_back(std::to_string(i)));
  EXPECT_EQ(list.size(), 10000U);
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(*addresses[static_cast<size_t>(i)], std::to_string(i));
}

}  // namespace
}  // namespace anyshape

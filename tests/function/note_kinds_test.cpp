// Which notes a tensor carries, in words and in a trace's key.
#include "function/note_kinds.h"

#include <gtest/gtest.h>

#include <set>

namespace anyshape::function_detail {
namespace {

TEST(NoteKinds, have_words_of_their_own) {
  EXPECT_EQ(to_words({}), "");
  EXPECT_EQ(to_words({.has_mask = true}), "mask");
  EXPECT_EQ(to_words({.logits_of = Probability::Sigmoid}), "logits of sigmoid");
  EXPECT_EQ(to_words({.logits_of = Probability::Softmax}), "logits of softmax");
  EXPECT_EQ(to_words({.has_mask = true, .logits_of = Probability::Sigmoid}), "mask and logits of sigmoid");
  EXPECT_EQ(to_words({.has_mask = true, .logits_of = Probability::Softmax}), "mask and logits of softmax");
}

TEST(NoteKinds, differ_in_the_key) {
  std::set<std::string> keys;
  for (const bool has_mask : {false, true}) {
    for (const std::optional<Probability> logits_of : {std::optional<Probability>(), {Probability::Sigmoid}, {Probability::Softmax}}) {
      std::string key;
      append_key(key, {.has_mask = has_mask, .logits_of = logits_of});
      keys.insert(key);
    }
  }
  EXPECT_EQ(keys.size(), 6);
}

}  // namespace
}  // namespace anyshape::function_detail

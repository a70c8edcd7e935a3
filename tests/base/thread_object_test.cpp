// An object per thread that can be asked for at any time, also by destructors that run after its own.
#include "base/thread_object.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace anyshape {
namespace {

std::atomic<int> living{0};
struct Counted {
  Counted() { living.fetch_add(1); }
  ~Counted() { living.fetch_sub(1); }
  std::string text = "fresh";
};
struct Tag;
struct OtherTag;
using Own = ThreadObject<Counted, Tag>;

TEST(ThreadObject, is_one_per_thread_and_tag) {
  Own::get().text = "changed";
  std::thread([] { EXPECT_EQ(Own::get().text, "fresh"); }).join();
  EXPECT_EQ(Own::get().text, "changed");
  EXPECT_EQ((ThreadObject<Counted, OtherTag>::get().text), "fresh");
}

// Made before the object, so that its destructor comes after the object's.
struct AsksAtTheEnd {
  ~AsksAtTheEnd() {
    Own::get().text += " at the end";
    seen = Own::get().text;
  }
  static inline std::string seen;
};

TEST(ThreadObject, is_made_anew_after_its_end_and_destroyed_again) {
  const int before = living.load();
  std::thread([] {
    thread_local AsksAtTheEnd asks;
    static_cast<void>(&asks);
    Own::get().text = "used";
  }).join();
  EXPECT_EQ(AsksAtTheEnd::seen, "fresh at the end");
  EXPECT_EQ(living.load(), before);
}

}  // namespace
}  // namespace anyshape

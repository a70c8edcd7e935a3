// How much the universal testers try: ANYSHAPE_TEST_PERCENT of the shapes, graphs and programs that their files say, all of them without it. Under a
// sanitizer a part finds what it is after; .ci/nightly tries all.
#pragma once
#include <algorithm>
#include <cstdlib>

namespace anyshape::check {

// At least `least`, so that every case and every kind of shape has its turn.
inline int share_of(int all, int least) {
  const char* const percent = std::getenv("ANYSHAPE_TEST_PERCENT");
  return percent == nullptr ? all : std::clamp(all * std::atoi(percent) / 100, std::min(least, all), all);
}

}  // namespace anyshape::check

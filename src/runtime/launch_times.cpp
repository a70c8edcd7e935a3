// The environment is read for each program: a test may ask for one of them.
#include "runtime/launch_times.h"

#include "base/environment.h"

#include <chrono>
#include <cstdlib>

namespace anyshape::runtime {

LaunchTimes::LaunchTimes(size_t launches) {
  const char* const given = std::getenv("ANYSHAPE_TIMES");
  if (given != nullptr && means_on(given)) nanoseconds_ = std::make_unique<std::atomic<int64_t>[]>(launches);
}

int64_t LaunchTimes::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace anyshape::runtime

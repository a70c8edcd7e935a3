// The environment is read for each program: a test may ask for one of them.
#include "runtime/step_times.h"

#include "base/environment.h"

#include <chrono>
#include <cstdlib>

namespace anyshape::runtime {

StepTimes::StepTimes(size_t steps) {
  const char* const given = std::getenv("ANYSHAPE_TIMES");
  if (given != nullptr && means_on(given)) nanoseconds_ = std::make_unique<std::atomic<int64_t>[]>(steps);
}

int64_t StepTimes::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace anyshape::runtime

// The two OpenMP functions that keep oneDNN on one thread, declared here since clang comes without GCC's omp.h. Both count per thread.
#pragma once

extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace anyshape::runtime {

// Libraries called by this thread stay on it; the caller's own OpenMP setting comes back.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneOpenMpThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

}  // namespace anyshape::runtime

// A few small products on a thread that is over before the process forks or ends.
#include "runtime/warm_up.h"

#include <dnnl.h>
#include <pthread.h>

#include <array>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/openmp.h"
#include "runtime/pool.h"

namespace anyshape::runtime {
namespace {

// The first generates nearly everything; each other one has a few kernels of its own.
void run_products() {
  const OneOpenMpThread one_thread;
  constexpr dnnl_dim_t size = 64;
  const std::vector<float> a(size * size, 1.0F), b(size * size, 1.0F);
  std::vector<float> c(size * size);
  for (const dnnl_dim_t rows : {size, dnnl_dim_t{8}, dnnl_dim_t{1}})
    for (const char transpose_a : {'N', 'T'})
      for (const char transpose_b : {'N', 'T'})
        static_cast<void>(
            dnnl_sgemm(transpose_a, transpose_b, rows, size, size, 1.0F, a.data(), size, b.data(), size, 0.0F, c.data(), size));
}

// The thread must be over when the process forks, for the child would wait for ever for code that nobody generates there, and when oneDNN's own
// statics end. Those that it makes are newer than ours and so end before them; what belongs to the main thread ends before all statics.
class WarmUp {
 public:
  WarmUp() {
    if (available_processors() == 1) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the program's: its threads take them
    try {
      thread_ = std::thread(run_products);
    } catch (const std::system_error&) {
      // The first product does it, then.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_atfork([] { warm_up().wait(); }, nullptr, nullptr);
  }
  ~WarmUp() { wait(); }
  WarmUp(const WarmUp&) = delete;
  WarmUp& operator=(const WarmUp&) = delete;

  static WarmUp& warm_up() {
    static WarmUp once;
    return once;
  }

  void wait() {
    const std::lock_guard lock(mutex_);
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::mutex mutex_;
  std::thread thread_;
};

struct WaitAtEndOfThread {
  ~WaitAtEndOfThread() { WarmUp::warm_up().wait(); }
};

}  // namespace

void start_warming_up_products() {
  static_cast<void>(WarmUp::warm_up());
  const thread_local WaitAtEndOfThread wait;
}

}  // namespace anyshape::runtime

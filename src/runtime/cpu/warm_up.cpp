// A few small products on a thread that is over before the process ends.
#include "runtime/cpu/warm_up.h"

#include <dnnl.h>
#include <pthread.h>

#include <array>
#include <csignal>
#include <system_error>
#include <thread>
#include <vector>

#include "base/futex.h"
#include "base/no_fork.h"
#include "runtime/cpu/openmp.h"
#include "runtime/cpu/pool.h"

namespace anyshape::runtime {
namespace {

// The first generates nearly everything; each other one has a few kernels of its own. A fork comes between two of them: a child would wait for
// ever for code that nobody generates there, but what has not begun it generates itself.
void run_products() {
  const OneOpenMpThread one_thread;
  constexpr dnnl_dim_t size = 64;
  const std::vector<float> a(size * size, 1.0F), b(size * size, 1.0F);
  std::vector<float> c(size * size);
  for (const dnnl_dim_t rows : {size, dnnl_dim_t{8}, dnnl_dim_t{1}}) {
    for (const char transpose_a : {'N', 'T'}) {
      for (const char transpose_b : {'N', 'T'}) {
        const NoFork whole;
        static_cast<void>(
            dnnl_sgemm(transpose_a, transpose_b, rows, size, size, 1.0F, a.data(), size, b.data(), size, 0.0F, c.data(), size));
      }
    }
  }
}

// Never destroyed, as nothing of the process is. The thread is over before the main thread's own objects end: oneDNN's statics may end after
// them, where keep_onednn.cpp does not find it.
class WarmUp {
 public:
  WarmUp() = default;
  WarmUp(const WarmUp&) = delete;
  WarmUp& operator=(const WarmUp&) = delete;

  static WarmUp& of_process() {
    static WarmUp& once = *new WarmUp;
    return once;
  }

  void start() {
    if (available_processors() == 1 || is_started_.exchange(true)) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the program's: its threads take them
    try {
      is_running_.store(1);
      thread_ = std::thread([this] {
        run_products();
        is_running_.store(0, std::memory_order_release);
        wake_all(is_running_);
      });
    } catch (const std::system_error&) {
      is_running_.store(0);  // the first product does it, then
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void wait() {
    const auto is_awaited = [&] { return is_running_.load(std::memory_order_acquire) != 0 && generation_ == fork_generation(); };
    while (is_awaited()) sleep_while(is_running_, 1);
    // With all that the system holds for it. A child has no such thread.
    if (generation_ == fork_generation() && thread_.joinable() && !is_joined_.exchange(true)) thread_.join();
  }

 private:
  std::atomic<uint32_t> is_running_{0};
  uint32_t generation_ = fork_generation();
  std::thread thread_;
  std::atomic<bool> is_started_{false}, is_joined_{false};
};

struct WaitAtEndOfThread {
  ~WaitAtEndOfThread() { WarmUp::of_process().wait(); }
};

}  // namespace

void start_warming_up_products() {
  const NoFork whole;
  WarmUp::of_process().start();
  const thread_local WaitAtEndOfThread wait;
}

}  // namespace anyshape::runtime

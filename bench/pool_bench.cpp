// What the pool costs, and our product tiles against oneDNN's own threading, on two pinned threads. Prints markdown tables.
// Rounds are interleaved and begin and end with a calibration product; those where it took over 1.15x the best are dropped and repeated.
#include <dnnl.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/cpu/openmp.h"
#include "runtime/cpu/product.h"

namespace {

using namespace anyshape::runtime;
using Clock = std::chrono::steady_clock;
using Work = std::function<void()>;

void pin_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

double seconds_each(const Work& work, int repetitions) {
  const auto start = Clock::now();
  for (int i = 0; i < repetitions; ++i) work();
  return std::chrono::duration<double>(Clock::now() - start).count() / repetitions;
}

void pin_pool(Pool& pool) {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> arrived{0};
  pool.run(2, 1, [&](int64_t, int64_t) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
    pin_to(std::this_thread::get_id() == caller ? 0 : 1);
  });
}

// libgomp's second thread inherits the mask of the thread that first needs it: make it while the caller is on the other processor.
void pin_openmp() {
  pin_to(1);
  omp_set_num_threads(2);
  std::vector<float> a(512 * 512, 1.0F), c(512 * 512);
  dnnl_sgemm('N', 'N', 512, 512, 512, 1, a.data(), 512, a.data(), 512, 0, c.data(), 512);
  pin_to(0);
}

// Tells whether both processors are ours at the moment.
class Calibration {
 public:
  explicit Calibration(Pool& pool) : pool_(pool), a_(256 * 512, 1.0F), b_(512 * 256, 1.0F), c_(256 * 256) {}
  bool quiet() {
    const Work work = [&] {
      static_cast<void>(product(
          pool_, {.m = 256, .n = 256, .k = 512, .a = a_.data(), .lda = 512, .b = b_.data(), .ldb = 256, .c = c_.data(), .ldc = 256}));
    };
    work();
    const double seconds = seconds_each(work, 1);
    best_ = std::min(best_, seconds);
    return seconds < 1.15 * best_;
  }

 private:
  Pool& pool_;
  std::vector<float> a_, b_, c_;
  double best_ = 1;
};

// One undisturbed measurement, or -1 where the machine stayed busy.
double measure(Calibration& calibration, const Work& work, int repetitions, int openmp_threads) {
  for (int attempt = 0; attempt < 60; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    omp_set_num_threads(1);
    if (!calibration.quiet()) continue;
    omp_set_num_threads(openmp_threads);
    seconds_each(work, 1 + repetitions / 8);
    const double seconds = seconds_each(work, repetitions);
    omp_set_num_threads(1);
    // libgomp's worker spins on for milliseconds; it must be asleep before ours is measured.
    if (openmp_threads > 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (calibration.quiet()) return seconds;
  }
  return -1;
}

struct Shape {
  bool transpose_a, transpose_b;
  int64_t m, k, n;
};

void compare(Pool& pool, Calibration& calibration, const Shape& s, int rounds) {
  const int64_t lda = s.transpose_a ? s.m : s.k, ldb = s.transpose_b ? s.k : s.n;
  std::vector<float> a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.k * s.n)), c(static_cast<size_t>(s.m * s.n));
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7919 % 2003) / 1000 - 1;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 104729 % 2011) / 1000 - 1;
  const Product call{.transpose_a = s.transpose_a,
                     .transpose_b = s.transpose_b,
                     .m = s.m,
                     .n = s.n,
                     .k = s.k,
                     .a = a.data(),
                     .lda = lda,
                     .b = b.data(),
                     .ldb = ldb,
                     .beta = 0,
                     .c = c.data(),
                     .ldc = s.n};
  const Work ours = [&] { static_cast<void>(product(pool, call)); };
  const Work theirs = [&] {
    dnnl_sgemm(s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', s.m, s.n, s.k, 1, a.data(), lda, b.data(), ldb, 0, c.data(), s.n);
  };
  const double flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.k) * static_cast<double>(s.n);
  const int repetitions = static_cast<int>(std::clamp(5e7 / flops, 1.0, 300.0));
  std::vector<double> our_times, their_times, single_times, ratios;
  for (int round = 0; round < rounds; ++round) {
    const double first = measure(calibration, ours, repetitions, 1);
    const double second = measure(calibration, theirs, repetitions, 2);
    const double single = measure(calibration, theirs, repetitions, 1);
    if (first < 0 || second < 0 || single < 0) continue;
    our_times.push_back(first);
    their_times.push_back(second);
    single_times.push_back(single);
    ratios.push_back(first / second);
  }
  const Tiles tiles = tiles_of(s.m, s.n, s.k);
  std::printf("| %c%c (%ld x %ld)(%ld x %ld) | %ld x %ld |", s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', s.m, s.k, s.k, s.n,
              (s.m + tiles.rows - 1) / tiles.rows, (s.n + tiles.columns - 1) / tiles.columns);
  const double median = quantile(our_times, 0.5);
  if (ratios.size() < 3) {
    std::printf(" not measured: the machine was busy | | | | | %zu |\n", ratios.size());
  } else {
    std::printf(" %.1f | %.1f | %.1f | %.0f | **%.2f** (%.2f-%.2f) | %zu |\n", median * 1e6, quantile(their_times, 0.5) * 1e6,
                quantile(single_times, 0.5) * 1e6, flops / median / 1e9, quantile(ratios, 0.5), quantile(ratios, 0.25),
                quantile(ratios, 0.75), ratios.size());
  }
  std::fflush(stdout);
}

void print_region_costs(Calibration& calibration) {
  std::printf("| threads | parts | us a region, workers awake | after 2 ms of idleness |\n|---|---|---|---|\n");
  for (int threads : {1, 2, 3, 8}) {
    Pool pool(threads);
    for (int64_t parts : {1, 2, 8}) {
      const Work region = [&] { pool.run(parts, 1, [](int64_t, int64_t) {}); };
      std::vector<double> awake, asleep;
      for (int round = 0; round < 21; ++round) {
        const double seconds = measure(calibration, region, 2000, 1);
        if (seconds > 0) awake.push_back(seconds);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        asleep.push_back(seconds_each(region, 1));
      }
      std::printf("| %d | %ld | %.2f | %.1f |\n", threads, parts, quantile(awake, 0.5) * 1e6, quantile(asleep, 0.5) * 1e6);
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  Pool pool(2);
  pin_pool(pool);
  pin_openmp();
  Calibration calibration(pool);
  for (int i = 0; i < 50; ++i) calibration.quiet();
  std::printf(
      "| product | tiles | ours us | oneDNN, 2 OpenMP threads us | oneDNN, 1 thread us | ours GFLOP/s | ratio (quartiles) | rounds kept "
      "|\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  constexpr Shape shapes[] = {
      {false, false, 512, 512, 512}, {false, false, 1024, 1024, 1024}, {false, false, 32, 128, 512},   {false, false, 3200, 64, 512},
      {false, false, 64, 784, 512},  {false, false, 64, 512, 512},     {true, false, 784, 64, 512},    {true, false, 64, 3200, 512},
      {false, true, 3200, 512, 64},  {false, false, 4096, 256, 1024},  {true, false, 256, 4096, 1024}, {false, false, 1, 784, 512},
      {false, false, 64, 512, 10},   {true, false, 512, 64, 10},       {false, true, 64, 10, 512},     {false, true, 64, 512, 784},
      {true, false, 784, 1, 512},    {false, false, 1, 512, 10},       {false, false, 7, 784, 512},    {false, false, 200, 784, 512},
      {false, false, 128, 128, 128}, {false, false, 64, 64, 64},       {false, false, 32, 32, 32},     {false, false, 256, 5, 10},
  };
  for (const Shape& shape : shapes) compare(pool, calibration, shape, rounds);
  std::printf("\n");
  print_region_costs(calibration);
}

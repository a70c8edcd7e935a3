// Devices of the tests: memory of its own, and a thread that does one thing after the other while the caller goes on. What a kernel launch does is
// each device's own; that of `device()` interprets it.
#pragma once
#include "loop/interpret.h"
#include "lower/map_cpu.h"
#include "runtime/backends.h"
#include "runtime/cpu/cpu_library.h"
#include "runtime/cpu/externs.h"
#include "runtime/item_run.h"
#include "tensor/memory.h"

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace anyshape::test {

// Does in order what it is given. What throws is kept, and what comes after it until somebody asks is left undone.
class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    give([this] { is_over_ = true; });
    thread_.join();
  }
  void give(std::function<void()> task) {
    const std::lock_guard guard(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  void wait() {
    if (std::this_thread::get_id() == thread_.get_id()) return;  // the device itself gives memory back
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tasks_.empty(); });
  }
  void throw_failure() {
    std::exception_ptr failure;
    {
      const std::lock_guard guard(mutex_);
      failure = std::exchange(failure_, nullptr);
    }
    if (failure != nullptr) std::rethrow_exception(failure);
  }
  // As long as one lives nothing is done.
  std::unique_lock<std::mutex> hold() { return std::unique_lock(held_); }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !tasks_.empty(); });
      const bool has_failed = failure_ != nullptr;
      const std::function<void()>& task = tasks_.front();
      lock.unlock();
      std::exception_ptr failure;
      try {
        const std::lock_guard not_held(held_);
        if (!has_failed) task();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure != nullptr && failure_ == nullptr) failure_ = failure;
      tasks_.pop_front();
      changed_.notify_all();
      if (is_over_) return;
    }
  }

  std::mutex mutex_, held_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // the first one is being done
  std::exception_ptr failure_;
  bool is_over_ = false;
  std::thread thread_;
};

// The host reads it when the device is done.
class DeviceSource final : public MemorySource {
 public:
  DeviceSource(Worker& worker, const char* name) : worker_(worker), name_(name) {}
  void* take(int64_t capacity) noexcept override { return std::aligned_alloc(64, static_cast<size_t>(capacity)); }
  void give(void* block, int64_t) noexcept override {
    worker_.wait();
    std::free(block);
  }
  int64_t most_kept() const noexcept override { return int64_t{64} << 20; }
  void* on_host(void* pointer) override {
    worker_.wait();
    worker_.throw_failure();
    return pointer;
  }
  const char* name() const noexcept override { return name_; }

 private:
  Worker& worker_;
  const char* name_;
};

// All that a device does but its launches. What reads gives is a copy, as it would be of memory that the host cannot reach.
template <class Own>
class WorkerQueue : public runtime::Queue {
 public:
  explicit WorkerQueue(const runtime::Executable& executable)
      : executable(executable), context(runtime::make_context(runtime::Pool::shared())) {}
  // What follows runs once, on the whole result.
  bool multiply(const runtime::ProductCall& call) override {
    if (runtime::multiply(&context, call, nullptr) != 0) return false;
    return !call.epilogue || launch(call.epilogue->launch, call.epilogue->buffers, call.epilogue->dims);
  }
  bool convolve(const runtime::ConvolutionCall& call) override {
    if (runtime::convolve(&context, call, nullptr) != 0) return false;
    return !call.epilogue || launch(call.epilogue->launch, call.epilogue->buffers, call.epilogue->dims);
  }
  bool sort(const runtime::SortCall& call) override {
    runtime::sort(*static_cast<runtime::Pool*>(context.pool), call);
    return true;
  }
  void copy(void* to, const void* from, int64_t bytes) override { std::memcpy(to, from, static_cast<size_t>(bytes)); }
  const void* read(const void* from, int64_t bytes) override {
    const auto* const begin = static_cast<const char*>(from);
    return copies_.emplace_back(begin, begin + bytes).data();
  }
  runtime::Failure failure() const override {
    return {context.failure.code, context.failure.op, context.failure.index, context.failure.value};
  }

 protected:
  const runtime::Executable& executable;
  AsContext context;

 private:
  void call_beside(int64_t count, Body body, const void* state) override {
    for (int64_t i = count; i-- > 0;) {
      Own own(executable);
      body(state, i, own);
    }
  }
  std::list<std::vector<char>> copies_;
};

template <class OwnQueue>
class WorkerBackend : public runtime::Backend {
 public:
  WorkerBackend(std::string_view name, const char* memory_name, int32_t number)
      : name_(name), source_(*new DeviceSource(worker, memory_name)), memory_(*new Memory(source_, number)) {}
  std::string_view name() const override { return name_; }
  Memory& memory() override { return memory_; }
  void run(const runtime::Executable& executable, runtime::Record& record, runtime::Segment segment) override {
    ++runs;
    if (!executable.program().data_sizes.empty()) {  // the caller waits for sizes
      worker.give([&, segment] { run_here(executable, record, segment); });
      worker.wait();
      return worker.throw_failure();
    }
    auto own = std::make_shared<runtime::Record>();
    own->symbols = record.symbols;
    own->blocks = record.blocks;
    own->pointers = record.pointers;
    own->results = record.results;
    const std::vector<Tensor> arguments(record.arguments.begin(), record.arguments.end());
    worker.give([own, segment, arguments, held = executable.shared_from_this()] { run_here(*held, *own, segment); });
  }
  void copy_in(void* to, const void* from_host, int64_t bytes) override { copy_out(to, from_host, bytes); }
  void copy_out(void* to_host, const void* from, int64_t bytes) override {
    worker.give([&] { std::memcpy(to_host, from, static_cast<size_t>(bytes)); });
    worker.wait();
  }
  void wait() override {
    worker.wait();
    worker.throw_failure();
  }
  void throw_failure() override { worker.throw_failure(); }

  Worker worker;
  int runs = 0;

 private:
  static void run_here(const runtime::Executable& executable, runtime::Record& record, runtime::Segment segment) {
    OwnQueue queue(executable);
    runtime::ItemRun(executable, record, queue).run(segment);
  }

  std::string_view name_;
  DeviceSource& source_;  // as long as the process, as the memory
  Memory& memory_;
};

class InterpretingQueue final : public WorkerQueue<InterpretingQueue> {
 public:
  using WorkerQueue::WorkerQueue;
  bool launch(size_t number, std::span<void* const> buffers, std::span<const int64_t> dims) override {
    return loop::interpret(*executable.program().launches[number].kernel, &context, buffers, dims, runtime::find_extern) == 0;
  }
};

class DeviceBackend final : public WorkerBackend<InterpretingQueue> {
 public:
  static constexpr int32_t number = 3;
  DeviceBackend() : WorkerBackend("test", "device \"test\"", number) {}
  void map(lower::Program& program) const override { lower::map_for_cpu(program, {}); }
  std::shared_ptr<const runtime::Code> compile(const lower::Program&) override { return std::make_shared<runtime::Code>(); }
};

// Lasts as long as the process.
inline DeviceBackend& device() {
  static DeviceBackend& backend = *new DeviceBackend;
  return backend;
}

}  // namespace anyshape::test

// The caching allocator: reuse, counts, threads, and failures that leave nothing behind.
#include "tensor/buffer.h"

#include "tensor/size_class.h"

#include <anyshape/error.h>
#include <anyshape/memory.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace anyshape {
namespace {

TEST(SizeClass, holds_every_request_and_wastes_at_most_a_fifth) {
  for (int64_t bytes = 1; bytes < (int64_t{1} << 45); bytes = bytes + bytes / 7 + 1) {
    const int size_class = size_class_of(bytes);
    const int64_t held = bytes_of_class(size_class);
    EXPECT_GE(held, bytes);
    EXPECT_LE(held - bytes, std::max<int64_t>(63, bytes / 4)) << bytes;
    EXPECT_EQ(size_class_of(held), size_class);
    EXPECT_EQ(size_class_of(held + 1), size_class + 1);
    EXPECT_EQ(size_class_of_capacity(capacity_of_class(size_class)), size_class);
  }
}

TEST(Buffer, is_aligned_and_has_room_past_its_end) {
  for (const int64_t bytes : {0, 1, 63, 64, 65, 1000, 4096, 100'000, 1 << 20, (1 << 20) + 1, 9 << 20}) {
    const auto buffer = allocate(bytes);
    ASSERT_NE(buffer->pointer, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->pointer) % 64, 0U);
    EXPECT_EQ(buffer->bytes, bytes);
    EXPECT_GE(buffer->capacity, bytes + 512);
    std::memset(buffer->pointer, 1, static_cast<size_t>(bytes + 512));
  }
}

TEST(Buffer, buffers_do_not_overlap) {
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 200; ++i) {
    buffers.push_back(allocate(i * 37));
    std::memset(buffers.back()->pointer, i, static_cast<size_t>(buffers.back()->bytes));
  }
  for (int i = 0; i < 200; ++i) {
    const auto* bytes = static_cast<const unsigned char*>(buffers[i]->pointer);
    for (int64_t b = 0; b < buffers[i]->bytes; ++b) ASSERT_EQ(bytes[b], i);
  }
}

TEST(Buffer, reuses_what_was_freed_without_asking_the_system) {
  for (const int64_t bytes : {100, 70'000, 3 << 20}) {
    allocate(bytes);
    const int64_t before = memory_use().system_allocations;
    for (int i = 0; i < 100; ++i) allocate(bytes - i % 10);
    EXPECT_EQ(memory_use().system_allocations, before) << bytes;
  }
}

TEST(Buffer, counts_live_and_cached_bytes) {
  trim_memory();
  const MemoryUse before = memory_use();
  EXPECT_EQ(before.cached_bytes, 0);
  for (const int64_t bytes : {1000, 5 << 20}) {
    auto buffer = allocate(bytes);
    const int64_t capacity = buffer->capacity;
    EXPECT_EQ(memory_use().live_bytes, before.live_bytes + capacity);
    EXPECT_EQ(memory_use().cached_bytes, 0);
    buffer.reset();
    EXPECT_EQ(memory_use().live_bytes, before.live_bytes);
    EXPECT_EQ(memory_use().cached_bytes, capacity);
    buffer = allocate(bytes);
    EXPECT_EQ(memory_use().live_bytes, before.live_bytes + capacity);
    EXPECT_EQ(memory_use().cached_bytes, 0);
    buffer.reset();
    trim_memory();
    EXPECT_EQ(memory_use().cached_bytes, 0);
  }
}

// A stream of growing sizes touches each page once.
TEST(Buffer, a_larger_one_grows_out_of_the_largest_that_is_free) {
  trim_memory();
  const int64_t live = memory_use().live_bytes;
  int64_t kept = 0;
  for (const int64_t megabytes : {5, 9, 40, 41, 90}) {
    const auto buffer = allocate(megabytes << 20);
    auto* const bytes = static_cast<unsigned char*>(buffer->pointer);
    for (int64_t at = 4096; at < kept; at += 4096) ASSERT_EQ(bytes[at], 7) << at << " of " << megabytes << " MiB";
    for (int64_t at = kept; at < buffer->bytes + 512; at += 4096) bytes[at] = 7;
    kept = buffer->bytes / (2 << 20) * (2 << 20);  // huge pages
    EXPECT_EQ(memory_use().cached_bytes, 0) << "the smaller one is gone";
    EXPECT_EQ(memory_use().live_bytes, live + buffer->capacity);
  }
  const auto first = allocate(90 << 20), second = allocate(91 << 20);
  std::memset(first->pointer, 1, 1 << 20);
  std::memset(second->pointer, 2, 1 << 20);
  EXPECT_EQ(static_cast<unsigned char*>(first->pointer)[100], 1);
  trim_memory();
}

// As the keys and values of a text that is written word by word: what was outgrown is of no use any more.
TEST(Buffer, growing_step_by_step_keeps_no_more_than_half_of_what_was_taken_at_once) {
  trim_memory();
  const MemoryUse before = memory_use();
  std::shared_ptr<Buffer> keys, values;
  int64_t peak = 0;
  for (int64_t step = 1; step <= 8000; ++step) {
    for (std::shared_ptr<Buffer>* each : {&keys, &values}) {
      const std::shared_ptr<Buffer> next = allocate(step * 256);
      peak = std::max(peak, memory_use().live_bytes - before.live_bytes);
      *each = next;
    }
  }
  const MemoryUse after = memory_use();
  EXPECT_GE(after.live_bytes - before.live_bytes, 2 * 8000 * 256);
  EXPECT_LE(after.live_bytes + after.cached_bytes - before.live_bytes, peak + peak / 2 + (int64_t{4} << 20));
  EXPECT_LE(after.system_allocations - before.system_allocations, 300);  // a few for each size class
  trim_memory();
}

TEST(Buffer, the_cache_is_bounded) {
  trim_memory();
  std::vector<std::shared_ptr<Buffer>> buffers;  // never touched, so they cost address space only
  for (int i = 0; i < 40; ++i) buffers.push_back(allocate(int64_t{128} << 20));
  buffers.clear();
  EXPECT_LE(memory_use().cached_bytes, (int64_t{2} << 30) + (int64_t{4} << 20));
  EXPECT_GT(memory_use().cached_bytes, 0);
  trim_memory();
}

TEST(Buffer, many_small_ones_leave_the_threads_own_cache) {
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 20'000; ++i) buffers.push_back(allocate(1000));
  buffers.clear();
  const int64_t before = memory_use().system_allocations;
  for (int i = 0; i < 20'000; ++i) buffers.push_back(allocate(1000));
  EXPECT_EQ(memory_use().system_allocations, before);
}

TEST(Buffer, foreign_memory_is_left_to_its_owner) {
  auto bytes = std::make_shared<std::vector<char>>(1000);
  const MemoryUse before = memory_use();
  auto buffer = wrap_foreign(bytes->data(), 1000, 1000, bytes);
  EXPECT_EQ(bytes.use_count(), 2);
  buffer.reset();
  EXPECT_EQ(bytes.use_count(), 1);
  EXPECT_EQ(memory_use().cached_bytes, before.cached_bytes);
}

TEST(Buffer, a_thread_that_ends_hands_its_blocks_on) {
  trim_memory();
  const int64_t live = memory_use().live_bytes;
  std::thread([] { allocate(50'000); }).join();
  EXPECT_EQ(memory_use().cached_bytes, capacity_of_class(size_class_of(50'000)));
  EXPECT_EQ(memory_use().live_bytes, live);
  const int64_t before = memory_use().system_allocations;
  allocate(50'000);
  EXPECT_EQ(memory_use().system_allocations, before);
}

TEST(Buffer, another_threads_cache_can_be_released) {
  std::atomic<int> step{0};
  std::thread other([&] {
    allocate(50'000);
    step = 1;
    while (step != 2) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  trim_memory();
  EXPECT_EQ(memory_use().cached_bytes, 0);
  step = 2;
  other.join();
}

TEST(Buffer, threads_allocate_exchange_and_release_at_once) {
  const int64_t live = memory_use().live_bytes;
  std::mutex mutex;
  std::vector<std::shared_ptr<Buffer>> exchange;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3000; ++i) {
        auto buffer = allocate((i * 7919 + t) % 5000 + (i % 100 == 0 ? 2 << 20 : 0));
        static_cast<char*>(buffer->pointer)[0] = static_cast<char>(i);
        const std::lock_guard guard(mutex);
        exchange.push_back(std::move(buffer));
        if (exchange.size() > 50) exchange.erase(exchange.begin(), exchange.begin() + 40);
      }
      trim_memory();
    });
  }
  for (int i = 0; i < 50; ++i) {
    trim_memory();
    memory_use();
  }
  for (std::thread& thread : threads) thread.join();
  exchange.clear();
  EXPECT_EQ(memory_use().live_bytes, live);
}

TEST(Buffer, outlives_its_thread_and_the_end_of_the_program) {
  static std::shared_ptr<Buffer> of_static;  // freed after the main thread's own objects; the sanitizers watch
  std::thread([] {
    static thread_local std::shared_ptr<Buffer> of_thread;
    of_thread = allocate(100);
    of_static = allocate(3000);
  }).join();
  static_cast<char*>(of_static->pointer)[0] = 1;
}

TEST(Buffer, more_than_the_machine_has_is_out_of_memory_naming_the_bytes) {
  const MemoryUse before = memory_use();
  for (const int64_t bytes : {int64_t{1} << 45, int64_t{1} << 50, INT64_MAX, int64_t{-8}}) {
    try {
      allocate(bytes);
      FAIL() << bytes;
    } catch (const OutOfMemory& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(memory_use().live_bytes, before.live_bytes);
  EXPECT_NO_THROW(allocate(100));
}

TEST(Buffer, the_nth_allocation_fails_once_where_asked) {
  const int64_t live = memory_use().live_bytes;
  fail_allocation_after(3);
  EXPECT_NO_THROW(allocate(10));
  EXPECT_NO_THROW(allocate(10));
  EXPECT_THROW(allocate(10), OutOfMemory);
  EXPECT_NO_THROW(allocate(10));
  fail_allocation_after(1);
  fail_allocation_after(0);
  EXPECT_NO_THROW(allocate(10));
  EXPECT_EQ(memory_use().live_bytes, live);
}

}  // namespace
}  // namespace anyshape

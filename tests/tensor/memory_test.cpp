// A memory on a device: what is cached is never touched, what fails leaves nothing behind, and the host asks before it reads.
#include "tensor/memory.h"

#include <anyshape/error.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tensor/buffer.h"
#include "tensor/fake_source.h"
#include "tensor/host_data.h"
#include "tensor/host_memory.h"
#include "tensor/make_impl.h"
#include "tensor/size_class.h"

namespace anyshape {
namespace {

using test::FakeSource;

constexpr int32_t fake_device = 7;

// A memory lasts as long as the process.
struct Device {
  FakeSource& source = *new FakeSource;
  Memory& memory = *new Memory(source, fake_device);
};
Device& device() {
  static Device& of_process = *new Device;
  of_process.memory.trim();
  of_process.source.room = int64_t{1} << 40;
  of_process.source.kept = int64_t{1} << 30;
  return of_process;
}

std::string text_of_failure(int64_t bytes, Memory& memory) {
  try {
    allocate(bytes, memory);
  } catch (const OutOfMemory& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Memory, blocks_of_a_device_are_cached_without_being_touched) {
  auto& [source, memory] = device();
  const int64_t before = memory.use().system_allocations;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::shared_ptr<Buffer>> buffers;
    for (const int64_t bytes : {0, 1, 64, 1000, 100'000, 1 << 20, (1 << 20) + 1, 9 << 20}) {
      buffers.push_back(allocate(bytes, memory));
      EXPECT_EQ(buffers.back()->device, fake_device);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffers.back()->pointer) % 64, 0U);
      EXPECT_GE(buffers.back()->capacity, bytes + load_slack);
    }
    EXPECT_EQ(memory.use().system_allocations, before + 8) << "later rounds find what the first one left";
    buffers.resize(1);
    EXPECT_GT(memory.use().cached_bytes, 0);
  }
  EXPECT_EQ(memory.use().live_bytes, 0);
  memory.trim();
  EXPECT_EQ(source.held(), 0);
  EXPECT_EQ(source.wrong_gives, 0);
}

TEST(Memory, blocks_of_two_memories_never_mix) {
  auto& [source, memory] = device();
  for (const int64_t bytes : {100, 5 << 20}) {
    memory.trim();
    const MemoryUse host = host_memory().use();
    allocate(bytes, memory).reset();
    EXPECT_EQ(host_memory().use().cached_bytes, host.cached_bytes);
    const auto ours = allocate(bytes);
    EXPECT_EQ(ours->device, host_device);
    static_cast<char*>(ours->pointer)[0] = 1;  // what is the device's would end the program
    const auto theirs = allocate(bytes, memory);
    EXPECT_EQ(memory.use().cached_bytes, 0) << "the block that was kept";
    EXPECT_EQ(theirs->device, fake_device);
  }
}

TEST(Memory, a_source_that_has_no_more_gives_after_the_cache_was_emptied) {
  auto& [source, memory] = device();
  allocate(5 << 20, memory).reset();
  source.room = 8 << 20;
  const auto larger = allocate(6 << 20, memory);  // would fit nowhere beside what is kept
  EXPECT_EQ(memory.use().cached_bytes, 0);
  EXPECT_EQ(source.held(), larger->capacity);
}

TEST(Memory, out_of_memory_names_the_device_and_what_it_holds) {
  auto& [source, memory] = device();
  const auto held = allocate(3 << 20, memory);
  source.fails = true;
  for (const int64_t bytes : {200, 50 << 20}) {
    EXPECT_EQ(text_of_failure(bytes, memory),
              "allocate: device \"fake\" has no memory for " + std::to_string(bytes) + " bytes: " + std::to_string(held->capacity) +
                  " bytes are in tensors now; expected the request to fit. Free tensors or use smaller batches.");
  }
  source.fails = false;
  EXPECT_EQ(memory.use().live_bytes, held->capacity);
  EXPECT_NO_THROW(allocate(200, memory));
}

TEST(Memory, the_nth_request_of_this_memory_fails_once) {
  auto& [source, memory] = device();
  memory.fail_after(2);
  EXPECT_NO_THROW(allocate(10));
  EXPECT_NO_THROW(allocate(10));
  EXPECT_NO_THROW(allocate(10, memory));
  EXPECT_THROW(allocate(10, memory), OutOfMemory);
  EXPECT_NO_THROW(allocate(10, memory));
}

TEST(Memory, keeps_no_more_than_its_source_says) {
  auto& [source, memory] = device();
  source.kept = 20 << 20;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int i = 0; i < 10; ++i) buffers.push_back(allocate(4 << 20, memory));
  buffers.clear();
  EXPECT_LE(memory.use().cached_bytes, source.kept);
  EXPECT_GT(memory.use().cached_bytes, 0);
  EXPECT_EQ(source.held(), memory.use().cached_bytes);
}

// Without asking for a block to grow: a source need not know how.
TEST(Memory, a_stream_of_growing_sizes_keeps_little_that_is_too_small) {
  auto& [source, memory] = device();
  std::shared_ptr<Buffer> last;
  for (int64_t megabytes = 1; megabytes < 200; megabytes += 3) last = allocate(megabytes << 20, memory);
  EXPECT_LE(source.held(), 3 * last->capacity);
  EXPECT_EQ(source.wrong_gives, 0);
}

TEST(Memory, threads_take_from_two_memories_at_once) {
  auto& [source, memory] = device();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::shared_ptr<Buffer>> held;
      for (int i = 0; i < 2000; ++i) {
        Memory& from = (i + t) % 2 == 0 ? host_memory() : memory;
        held.push_back(allocate((i * 7919 + t) % 5000, from));
        if (held.size() > 20) held.erase(held.begin(), held.begin() + 10);
      }
      memory.trim();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.use().live_bytes, 0);
  memory.trim();
  EXPECT_EQ(source.held(), 0) << "also what threads had that are over";
  EXPECT_EQ(source.wrong_gives, 0);
}

TEST(Memory, outlives_its_thread) {
  auto& [source, memory] = device();
  std::shared_ptr<Buffer> kept;
  std::thread([&] {
    allocate(1000, memory);
    kept = allocate(3000, memory);
  }).join();
  EXPECT_EQ(memory.use().live_bytes, kept->capacity);
  kept.reset();
  EXPECT_EQ(memory.use().live_bytes, 0);
}

TEST(HostData, of_a_tensor_that_the_host_cannot_read_is_refused) {
  auto& [source, memory] = device();
  const auto impl = make_impl();
  impl->set_buffer(allocate(64, memory));
  impl->rank = 1;
  impl->sizes[0] = 16;
  impl->strides[0] = 1;
  const Tensor tensor(impl);
  for (const auto& read : std::vector<std::function<void()>>{[&] { tensor.to_vector<float>(); }, [&] { to_string(tensor); },
                                                             [&] { static_cast<void>(all_equal(tensor, tensor)); }}) {
    try {
      read();
      FAIL();
    } catch (const ArgumentError& error) {
      EXPECT_STREQ(
          error.what(),
          "host access: the tensor is in memory of device \"fake\", which the host cannot read; expected one in the host's memory. Copy "
          "it there first.");
    }
  }
}

}  // namespace
}  // namespace anyshape

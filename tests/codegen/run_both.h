// Runs one kernel by the interpreter and as machine code (for this processor, and on x86 for lesser ones) on copies of the same buffers, and
// compares every byte; NaNs count as equal.
#pragma once
#include "base/float_state.h"
#include "codegen/jit.h"
#include "codegen/target.h"
#include "loop/build.h"
#include "loop/interpret.h"
#include "loop/ir.h"
#include "loop/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace anyshape::codegen {

// Memory of a buffer. Behind its elements lies slack that loads may touch; stores into it are found by comparing.
struct Memory {
  Dtype dtype;
  int64_t count;
  std::vector<std::byte> bytes;

  Memory(Dtype dtype, int64_t count)
      : dtype(dtype), count(count), bytes(static_cast<size_t>(count * size_of(dtype) + loop::load_slack), std::byte{0x5a}) {}
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

template <class T>
T any_number(std::mt19937& random) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    const T corners[] = {T(0),
                         -T(0),
                         T(1),
                         T(-1),
                         T(0.5),
                         T(-0.5),
                         T(1.5),
                         T(2.5),
                         Limits::infinity(),
                         -Limits::infinity(),
                         Limits::quiet_NaN(),
                         Limits::max(),
                         Limits::lowest(),
                         Limits::min(),
                         -Limits::min(),
                         Limits::denorm_min(),
                         -Limits::denorm_min(),
                         Limits::min() / 2,
                         T(0x1p31),
                         T(-0x1p31),
                         T(0x1p63),
                         T(-0x1p63),
                         T(255.5),
                         T(256),
                         T(-0.999),
                         T(2147483520.0),
                         T(1e10),
                         Limits::epsilon()};
    if (random() % 3 == 0) return corners[random() % std::size(corners)];
    if (random() % 2 == 0) return std::uniform_real_distribution<T>(-4, 4)(random);
    return std::ldexp(std::uniform_real_distribution<T>(-1, 1)(random), static_cast<int>(random() % 200) - 100);
  } else {
    const T corners[] = {T(0),  T(1),  T(-1), T(2),  T(3),  T(-3), T(7), Limits::max(), Limits::min(), T(Limits::min() + 1),
                         T(31), T(32), T(33), T(63), T(64), T(65)};
    if (random() % 2 == 0) return corners[random() % std::size(corners)];
    const uint64_t bits = (static_cast<uint64_t>(random()) << 32) | random();
    return static_cast<T>(random() % 2 == 0 ? bits : bits % 100);
  }
}

template <class Body>
void with_type(Dtype dtype, Body&& body) {
  switch (dtype) {
    case Dtype::b8: return body(bool{});
    case Dtype::u8: return body(uint8_t{});
    case Dtype::i32: return body(int32_t{});
    case Dtype::i64: return body(int64_t{});
    case Dtype::f16:
    case Dtype::bf16: return body(uint16_t{});  // their bits
    case Dtype::f32: return body(float{});
    default: return body(double{});
  }
}

inline Memory random_memory(Dtype dtype, int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  Memory memory(dtype, count);
  with_type(dtype, [&](auto kind) {
    using T = decltype(kind);
    for (int64_t i = 0; i < count; ++i) memory.as<T>()[i] = any_number<T>(random);
  });
  return memory;
}

// Runs parts of at most `grain` plus one indices, the last part first: any order must do.
inline int32_t parallel_in_parts(AsContext* context, AsBody body, void* const* buffers, const int64_t* dims, const int64_t* frame,
                                 int64_t begin, int64_t end, int64_t grain) {
  int32_t result = 0;
  for (int64_t last = end; last > begin;) {
    const int64_t first = std::max(begin, last - grain - 1);
    if (const int32_t code = body(context, buffers, dims, frame, first, last); code != 0) result = code;
    last = first;
  }
  return result;
}

inline AsContext context_for_tests() {
  AsContext context{};
  context.parallel = parallel_in_parts;
  return context;
}

template <class T>
void expect_equal_elements(const Memory& expected, const Memory& got, const std::string& name) {
  for (int64_t i = 0; i < expected.count; ++i) {
    const T a = expected.as<T>()[i], b = got.as<T>()[i];
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) && std::isnan(b)) continue;
    }
    ASSERT_EQ(std::memcmp(&a, &b, sizeof(T)), 0) << name << "[" << i << "]: interpreter " << +a << ", machine code " << +b;
  }
}

class Compiled {
 public:
  explicit Compiled(loop::Kernel kernel, loop::ExternLookup externs = nullptr) : kernel_(std::move(kernel)), externs_(externs) {
    const loop::Kernel* const kernels[] = {&kernel_};
    codes_.push_back(compile(kernels, externs, host_target()));
#if defined(__x86_64__)
    for (const char* cpu : {"x86-64-v3", "x86-64-v2"}) codes_.push_back(compile(kernels, externs, target_for(cpu)));
#endif
  }

  int32_t run(std::vector<Memory>& buffers, const std::vector<int64_t>& dims, AsContext* context, size_t processor = 0) const {
    std::vector<void*> pointers;
    for (Memory& memory : buffers) pointers.push_back(memory.bytes.data());
    const FlushDenormals state;
    return codes_[processor]->entry(0)(context, pointers.data(), dims.data());
  }

  // Both ways on the same input; returns the buffers as the interpreter left them.
  std::vector<Memory> run_both(const std::vector<Memory>& buffers, const std::vector<int64_t>& dims) const {
    std::vector<Memory> expected = buffers;
    std::vector<void*> pointers;
    for (Memory& memory : expected) pointers.push_back(memory.bytes.data());
    AsContext context = context_for_tests();
    const int32_t result = loop::interpret(kernel_, &context, pointers, dims, externs_);
    for (size_t processor = codes_.size(); processor-- > 0;) {
      std::vector<Memory> got = buffers;
      EXPECT_EQ(result, run(got, dims, &context, processor)) << kernel_.name;
      expect_equal(expected, got, processor);
    }
    return expected;
  }

 private:
  void expect_equal(const std::vector<Memory>& expected, const std::vector<Memory>& got, size_t processor) const {
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string name = kernel_.name + " on processor " + std::to_string(processor) + " " + kernel_.buffers[i].name;
      with_type(expected[i].dtype, [&](auto kind) { expect_equal_elements<decltype(kind)>(expected[i], got[i], name); });
      const size_t end = static_cast<size_t>(expected[i].count * size_of(expected[i].dtype));
      EXPECT_EQ(std::memcmp(expected[i].bytes.data() + end, got[i].bytes.data() + end, loop::load_slack), 0)
          << name << ": stored past the end";
    }
  }

  loop::Kernel kernel_;
  loop::ExternLookup externs_;
  std::vector<std::shared_ptr<const CompiledKernels>> codes_;  // this processor's first
};

// 0 .. 70 and both sides of every border of a vector.
inline std::vector<int64_t> lengths() {
  std::vector<int64_t> result;
  for (int64_t n = 0; n <= 70; ++n) result.push_back(n);
  for (const int64_t n : {127, 128, 129, 191, 192, 193, 255, 256, 257, 1000}) result.push_back(n);
  return result;
}

// Those of a Reduce that has more than one run.
inline std::vector<int64_t> lengths_in_runs() { return {1023, 1024, 1025, 1039, 1040, 1041, 1100, 2047, 2048, 2049, 3072, 3073, 4100}; }

}  // namespace anyshape::codegen

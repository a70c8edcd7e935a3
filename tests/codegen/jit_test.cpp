// Calls of library routines, errors, several kernels in one module, compiling from several threads, and giving code back.
#include "codegen/jit.h"
#include "codegen/target.h"

#include <anyshape/error.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "codegen/run_both.h"

namespace anyshape::codegen {
namespace {

using loop::Access;
using loop::Builder;
using loop::Value;

// Adds integers[0] to the elements of a matrix that starts at pointers[0]; fails with integers[1].
int32_t add_number(AsContext* context, void* const* pointers, const int64_t* integers) {
  context->call_id += 1;
  auto* elements = static_cast<int32_t*>(pointers[0]);
  const auto* source = static_cast<const double*>(pointers[1]);
  elements[0] = static_cast<int32_t>(elements[0] + integers[0] + static_cast<int64_t>(*source));
  return static_cast<int32_t>(integers[1]);
}

loop::ExternFunction find(std::string_view name) { return name == "add_number" ? add_number : nullptr; }

loop::Kernel calling_kernel(bool parallel) {
  Builder b("calling");
  const int32_t y = b.buffer("y", Dtype::i32, Access::InOut), x = b.buffer("x", Dtype::f64, Access::In);
  const Value fails_at = b.size("fails_at");
  const auto body = [&](Value i) {
    const Value failure =
        b.cast(b.select(b.equal(i, fails_at), b.constant(Dtype::i32, int64_t{7}), b.constant(Dtype::i32, int64_t{0})), Dtype::i64);
    const Builder::Argument buffers[] = {{y, i}, {x, b.add(i, b.integer(1))}};
    const Value integers[] = {b.multiply(i, b.integer(10)), failure};
    b.call("add_number", buffers, integers);
  };
  if (parallel) {
    b.parallel_for(b.integer(0), b.size("n"), b.integer(1), body);
  } else {
    b.serial_for(b.integer(0), b.size("n"), body);
  }
  b.store(y, b.integer(0), b.constant(Dtype::i32, int64_t{99}));
  return b.finish();
}

std::vector<Memory> call_buffers() {
  Memory doubles(Dtype::f64, 9);
  for (int64_t i = 0; i < 9; ++i) doubles.as<double>()[i] = 100.0 * static_cast<double>(i);
  return {random_memory(Dtype::i32, 8, 1), doubles};
}

TEST(Calls, routines_get_offset_pointers_and_integers) {
  for (const bool parallel : {false, true}) {
    const auto got = Compiled(calling_kernel(parallel), find).run_both(call_buffers(), {-1, 8});
    EXPECT_EQ(got[0].as<int32_t>()[0], 99);
  }
}

TEST(Calls, a_failure_ends_the_kernel_with_its_code) {
  for (const bool parallel : {false, true}) {
    const Compiled compiled(calling_kernel(parallel), find);
    std::vector<Memory> buffers = call_buffers();
    AsContext context = context_for_tests();
    EXPECT_EQ(compiled.run(buffers, {3, 8}, &context), 7);
    EXPECT_NE(buffers[0].as<int32_t>()[0], 99);
  }
  Compiled(calling_kernel(false), find).run_both(call_buffers(), {3, 8});
}

TEST(Calls, an_unknown_routine_is_an_internal_error) {
  const loop::Kernel kernel = calling_kernel(false);
  const loop::Kernel* const kernels[] = {&kernel};
  EXPECT_THROW(compile(kernels, nullptr, host_target()), InternalError);
  EXPECT_THROW(compile(kernels, [](std::string_view) -> loop::ExternFunction { return nullptr; }, host_target()), InternalError);
}

loop::Kernel add_constant(double number) {
  Builder b("add_constant");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In), y = b.buffer("y", Dtype::f32, Access::Out);
  b.vector_for(b.integer(0), b.size("n"), [&](Value i) { b.store(y, i, b.add(b.load(x, i), b.constant(Dtype::f32, number))); });
  return b.finish();
}

float run_on_one(AsKernel entry) {
  Memory x(Dtype::f32, 1), y(Dtype::f32, 1);
  x.as<float>()[0] = 1;
  void* buffers[] = {x.bytes.data(), y.bytes.data()};
  const int64_t dims[] = {1};
  AsContext context = context_for_tests();
  EXPECT_EQ(entry(&context, buffers, dims), 0);
  return y.as<float>()[0];
}

TEST(Jit, several_kernels_are_compiled_in_order) {
  const loop::Kernel first = add_constant(1), second = add_constant(2);
  const loop::Kernel* const kernels[] = {&first, &second};
  const auto code = compile(kernels, nullptr, host_target());
  EXPECT_EQ(code->size(), 2U);
  EXPECT_GT(code->code_bytes(), 50);
  EXPECT_LT(code->code_bytes(), 4000);
  EXPECT_EQ(run_on_one(code->entry(0)), 2);
  EXPECT_EQ(run_on_one(code->entry(1)), 3);
}

TEST(Jit, threads_compile_beside_each_other) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      for (int i = 0; i < 5; ++i) {
        const loop::Kernel kernel = add_constant(t * 10 + i);
        const loop::Kernel* const kernels[] = {&kernel};
        wrong += run_on_one(compile(kernels, nullptr, host_target())->entry(0)) != static_cast<float>(t * 10 + i + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

int64_t executable_pages() {
  std::ifstream maps("/proc/self/maps");
  int64_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("r-xp") == std::string::npos) continue;
    const size_t dash = line.find('-');
    bytes += std::stoll(line.substr(dash + 1), nullptr, 16) - std::stoll(line.substr(0, dash), nullptr, 16);
  }
  return bytes;
}

TEST(Jit, code_is_given_back) {
  auto compiled = [](double number) {
    const loop::Kernel kernel = add_constant(number);
    const loop::Kernel* const kernels[] = {&kernel};
    return compile(kernels, nullptr, host_target());
  };
  compiled(1);
  const int64_t before = executable_pages();
  std::vector<std::shared_ptr<const CompiledKernels>> held;
  for (int i = 0; i < 20; ++i) held.push_back(compiled(i));
  EXPECT_GT(executable_pages(), before);
  held.clear();
  EXPECT_EQ(executable_pages(), before);
}

TEST(Jit, generated_text_can_be_read) {
  const loop::Kernel kernel = add_constant(1);
  EXPECT_NE(dump_llvm(kernel, nullptr, host_target()).find("fadd"), std::string::npos);
  EXPECT_NE(dump_assembly(kernel, nullptr, host_target()).find("kernel:"), std::string::npos);
  EXPECT_NE(description(host_target()).find("byte vectors"), std::string::npos);
}

}  // namespace
}  // namespace anyshape::codegen

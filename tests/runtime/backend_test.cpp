// Backends: functions and eager ops run where the thread says, with the same numbers; what a device does, it does after the call has returned.
#include "runtime/backends.h"

#include <anyshape/anyshape.h>
#include <gtest/gtest.h>

#include <array>

#include "runtime/device_backend.h"
#include "support/text_of.h"
#include "tensor/tensor_impl.h"

namespace anyshape {
namespace {

using runtime::ScopedBackend;
using test::text_of;

int32_t device_of(const Tensor& tensor) { return tensor.impl()->buffer()->device; }

TEST(Backend, a_thread_compiles_for_the_processor_unless_a_scope_says_otherwise) {
  EXPECT_EQ(runtime::current_backend().name(), "cpu");
  {
    const ScopedBackend interpreted(runtime::interpreter_backend());
    EXPECT_EQ(runtime::current_backend().name(), "interpreter");
    {
      const ScopedBackend compiled(runtime::cpu_backend());
      EXPECT_EQ(runtime::current_backend().name(), "cpu");
    }
    std::thread([] { EXPECT_EQ(runtime::current_backend().name(), "cpu"); }).join();
    EXPECT_EQ(runtime::current_backend().name(), "interpreter");
  }
  EXPECT_EQ(runtime::current_backend().name(), "cpu");
}

TEST(Backend, a_function_has_traces_for_each_backend_and_says_why) {
  auto twice = function([](Tensor x) { return x * 2.0F; }, {.name = "twice"});
  const Tensor x = tensor({1.0F, 2.0F});
  const Tensor compiled = twice(x);
  {
    const ScopedBackend interpreted(runtime::interpreter_backend());
    EXPECT_TRUE(all_equal(twice(x), compiled));
    EXPECT_EQ(twice.stats().interpreted_groups, 1);
    twice(x);
  }
  twice(x);
  EXPECT_EQ(twice.stats().traces, 2);
  EXPECT_EQ(twice.stats().hits, 2);
  EXPECT_EQ(twice.traces()[1].reason, "the backend cpu became interpreter (nearest: trace 0)");
}

TEST(Backend, a_devices_results_are_in_its_memory_and_the_host_reads_them_when_they_are_there) {
  const ScopedBackend on_device(test::device());
  auto f = function([](Tensor x) { return exp(x) + 1.0F; });
  const Tensor x = tensor({0.0F, 1.0F, 2.0F});
  f(x).to_vector<float>();
  Tensor y;
  {
    const auto held = test::device().worker.hold();
    y = f(x);  // returns, though nothing is done yet
    y = f(y);
  }
  EXPECT_EQ(device_of(y), test::DeviceBackend::number);
  const ScopedBackend here(runtime::cpu_backend());
  EXPECT_TRUE(all_equal(y, f(f(x))));
}

TEST(Backend, eager_ops_run_on_a_device) {
  Tensor y;
  const Tensor x = tensor({3.0F, 1.0F, 2.0F});
  {
    const ScopedBackend on_device(test::device());
    y = concat({sum(x * 2.0F, {.keep_dims = true}), x});
  }
  EXPECT_EQ(device_of(y), test::DeviceBackend::number) << "also what the processor copies without a kernel";
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{12, 3, 1, 2}));
}

TEST(Backend, control_flow_and_data_dependent_sizes_run_on_a_device) {
  auto branch = function([](Tensor x) { return cond(sum(x) > 0.0F, [&] { return x + 1.0F; }, [&] { return x * 3.0F; }); });
  auto loop = function([](Tensor x) { return while_loop([](Tensor v) { return sum(v) < 100.0F; }, [](Tensor v) { return v * 2.0F; }, x); });
  auto steps = function(
      [](Tensor x) { return scan([](Tensor carry, Tensor step) { return std::pair(carry + step, carry * step); }, zeros({2}), x); });
  auto found = function([](Tensor x) { return cumsum(gather_nd(x, nonzero(x > 1.5F))); });
  const Tensor x = tensor({1.0F, 2.0F}), negative = tensor({-1.0F, -2.0F}), rows = tensor({{1.0F, 2.0F}, {3.0F, 4.0F}, {5.0F, 6.0F}});
  std::vector<std::vector<float>> given[2];
  for (const bool is_device : {false, true}) {
    const ScopedBackend there(is_device ? static_cast<runtime::Backend&>(test::device()) : runtime::cpu_backend());
    auto& out = given[is_device];
    out.push_back(branch(x).to_vector<float>());
    out.push_back(branch(negative).to_vector<float>());
    out.push_back(loop(x).to_vector<float>());
    const auto [last, stacked] = steps(rows);
    out.push_back(last.to_vector<float>());
    out.push_back(stacked.to_vector<float>());
    out.push_back(found(rows).to_vector<float>());
  }
  EXPECT_EQ(given[0], given[1]);
}

TEST(Backend, what_fails_on_a_device_is_thrown_at_the_next_read_or_call_once) {
  const Tensor table = tensor({10.0F, 20.0F}), good = tensor({1, 0}), bad = tensor({1, 7});
  auto look_up = function([](Tensor table, Tensor indices) { return take(table, indices); }, {.name = "look_up"});
  const std::string expected = text_of<DataError>([&] { look_up(table, bad); });
  EXPECT_NE(expected.find("take: index 7 at position 1"), std::string::npos) << expected;
  const ScopedBackend on_device(test::device());
  Tensor y = look_up(table, bad);
  EXPECT_EQ(text_of<DataError>([&] { y.to_vector<float>(); }), expected);
  y = look_up(table, bad);
  test::device().worker.wait();
  EXPECT_EQ(text_of<DataError>([&] { look_up(table, good); }), expected);
  EXPECT_EQ(look_up(table, good).to_vector<float>(), (std::vector<float>{20, 10})) << "and all is well again";
}

TEST(Backend, copies_between_its_memory_and_the_host_are_done_when_they_return) {
  for (runtime::Backend* const each :
       {&runtime::cpu_backend(), &runtime::interpreter_backend(), static_cast<runtime::Backend*>(&test::device())}) {
    const std::shared_ptr<Buffer> there = allocate(12, each->memory());
    const std::array<float, 3> given = {1, 2, 3};
    std::array<float, 3> back{};
    each->copy_in(there->pointer, given.data(), 12);
    each->copy_out(back.data(), there->pointer, 12);
    EXPECT_EQ(back, given) << each->name();
    each->wait();
  }
}

TEST(Backend, waiting_throws_what_failed_before) {
  auto look_up = function([](Tensor table, Tensor indices) { return take(table, indices); });
  const ScopedBackend on_device(test::device());
  look_up(tensor({10.0F, 20.0F}), tensor({2}));
  EXPECT_THROW(test::device().wait(), DataError);
  EXPECT_NO_THROW(test::device().wait());
}

TEST(Backend, updates_of_variables_run_on_a_device) {
  Variable w(tensor({1.0F, 2.0F}), {.name = "w"});
  auto step = function([&](Tensor x) {
    w.assign(w + x);
    return sum(w);
  });
  const ScopedBackend on_device(test::device());
  for (int i = 0; i < 5; ++i) step(tensor({1.0F, 10.0F}));
  EXPECT_EQ(w.read().to_vector<float>(), (std::vector<float>{6, 52}));
  EXPECT_EQ(device_of(w.read()), test::DeviceBackend::number);
}

}  // namespace
}  // namespace anyshape

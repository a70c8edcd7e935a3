// Calls decoded from bytes: no crash, no InternalError, nothing over a second. ANYSHAPE_FUZZ_CALLS says how many of them are interpreted (a
// fiftieth of that is compiled); ANYSHAPE_FUZZ_BYTES, as printed by a failure, runs that one call.
#include "check/fuzz_calls.h"
#include "check/crash_note.h"
#include "function/compile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

namespace anyshape::check {
namespace {

using function_detail::ScopedInterpretation;

int64_t calls_wanted() {
  const char* wanted = std::getenv("ANYSHAPE_FUZZ_CALLS");
  return wanted != nullptr ? std::strtoll(wanted, nullptr, 10) : 20'000;
}

std::vector<uint8_t> draw_bytes(Random& random, size_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next() >> 32);
  return bytes;
}

void report(const FuzzInput& input, const std::string& problem) {
  const std::string alone = run_fuzz_call(input);
  if (alone.empty()) {
    ADD_FAILURE() << problem << "\n  only after other calls of its kind: ANYSHAPE_FUZZ_BYTES=" << to_hex(input);
    return;
  }
  const FuzzInput reduced = reduce_input(input, [](const FuzzInput& candidate) { return !run_fuzz_call(candidate).empty(); });
  ADD_FAILURE() << run_fuzz_call(reduced) << "\n  again with ANYSHAPE_FUZZ_BYTES=" << to_hex(reduced);
}

// Calls of one kind share what is traced and compiled, which takes most of the time.
void fuzz(uint64_t seed, int64_t calls, int64_t calls_per_kind) {
  Random random(seed);
  int failures = 0;
  for (int64_t kind = 0; kind * calls_per_kind < calls && failures < 5; ++kind) {
    FuzzInput input{draw_bytes(random, 64), {}};
    FuzzKind all(input.kind);
    for (int64_t call = 0; call < calls_per_kind; ++call) {
      input.values = draw_bytes(random, 64);
      const CrashNote note("ANYSHAPE_FUZZ_BYTES=" + to_hex(input));
      const std::string problem = all.run(input.values);
      if (problem.empty()) continue;
      ++failures;
      report(input, problem);
      break;  // the others of its kind mostly say the same
    }
  }
}

void fuzz_interpreted(uint64_t seed) {
  const ScopedInterpretation interpretation;
  fuzz(seed, calls_wanted() / 4, 100);
}

// Parts that run side by side.
TEST(FuzzCalls, interpreted_calls_give_results_or_their_own_exceptions_1_of_4) { fuzz_interpreted(1); }
TEST(FuzzCalls, interpreted_calls_give_results_or_their_own_exceptions_2_of_4) { fuzz_interpreted(2); }
TEST(FuzzCalls, interpreted_calls_give_results_or_their_own_exceptions_3_of_4) { fuzz_interpreted(3); }
TEST(FuzzCalls, interpreted_calls_give_results_or_their_own_exceptions_4_of_4) { fuzz_interpreted(4); }
TEST(FuzzCalls, compiled_calls_give_results_or_their_own_exceptions_1_of_2) { fuzz(5, calls_wanted() / 100, 25); }
TEST(FuzzCalls, compiled_calls_give_results_or_their_own_exceptions_2_of_2) { fuzz(6, calls_wanted() / 100, 25); }

TEST(FuzzCalls, bytes_that_run_out_decode_too) {
  const ScopedInterpretation interpretation;
  Random random(7);
  for (size_t length = 0; length < 40; ++length) EXPECT_EQ(run_fuzz_call({draw_bytes(random, length), draw_bytes(random, length / 2)}), "");
}

TEST(FuzzCalls, the_bytes_of_a_failure_give_it_again) {
  const char* bytes = std::getenv("ANYSHAPE_FUZZ_BYTES");
  if (bytes != nullptr) {
    EXPECT_EQ(run_fuzz_call(from_hex(bytes)), "");
  }
  Random random(8);
  const FuzzInput input{draw_bytes(random, 9), draw_bytes(random, 3)};
  const FuzzInput again = from_hex(to_hex(input));
  EXPECT_EQ(again.kind, input.kind);
  EXPECT_EQ(again.values, input.values);
  EXPECT_EQ(to_hex(from_hex("0aff:")), "0aff:");
}

// A planted fault: reductions along two axes or more of something empty are said to fail.
TEST(FuzzCalls, a_failure_is_reduced_to_the_bytes_that_matter) {
  const auto fails = [](const FuzzInput& input) {
    FuzzBytes bytes(input.kind, input.values);
    const Tensor x = bytes.tensor();
    return bytes.axes(x).size() >= 2 && bytes.text().find("[0") != std::string::npos;
  };
  Random random(9);
  FuzzInput input;
  do {
    input = {draw_bytes(random, 64), draw_bytes(random, 64)};
  } while (!fails(input));
  const FuzzInput reduced = reduce_input(input, fails);
  EXPECT_TRUE(fails(reduced));
  EXPECT_LE(reduced.values.size(), 2U) << to_hex(reduced);
  EXPECT_LE(reduced.kind.size(), 6U) << to_hex(reduced);
}

}  // namespace
}  // namespace anyshape::check

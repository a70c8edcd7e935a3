// Calls decoded from bytes: no crash, no InternalError, nothing over a second. ANYSHAPE_FUZZ_CALLS says how many.
#include "check/fuzz_bytes.h"
#include "function/compile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

namespace anyshape::check {
namespace {

int64_t calls_wanted() {
  const char* wanted = std::getenv("ANYSHAPE_FUZZ_CALLS");
  return wanted != nullptr ? std::strtoll(wanted, nullptr, 10) : 20'000;
}

void fuzz(uint64_t seed, int64_t calls) {
  Random random(seed);
  std::vector<uint8_t> bytes(96);
  int failures = 0;
  for (int64_t call = 0; call < calls && failures < 10; ++call) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next() >> 32);
    const std::string problem = run_fuzz_call(bytes);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "call " << call << " of seed " << seed << ": " << problem;
  }
}

TEST(FuzzCalls, interpreted_calls_give_results_or_their_own_exceptions) {
  const function_detail::ScopedInterpretation interpretation;
  fuzz(1, calls_wanted());
}

TEST(FuzzCalls, compiled_calls_give_results_or_their_own_exceptions) { fuzz(2, calls_wanted() / 50); }

TEST(FuzzCalls, bytes_that_run_out_decode_too) {
  const function_detail::ScopedInterpretation interpretation;
  Random random(3);
  for (size_t length = 0; length < 40; ++length) {
    std::vector<uint8_t> bytes(length);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
    EXPECT_EQ(run_fuzz_call(bytes), "");
  }
}

}  // namespace
}  // namespace anyshape::check

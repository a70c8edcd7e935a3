// Running calls decoded from bytes, and making what fails small.
#pragma once
#include "check/fuzz_table.h"
#include "check/traced.h"

#include <functional>
#include <optional>
#include <string>

namespace anyshape::check {

// Calls of one kind, eager or traced, with or without gradients. Traced ones share a function.
class FuzzKind {
 public:
  explicit FuzzKind(std::vector<uint8_t> kind) : kind_(std::move(kind)) {}

  // Decodes one call and runs it. Empty where it came back in time with results or with an exception that a wrong call may have; else what
  // happened and the call.
  std::string run(std::span<const uint8_t> values);

 private:
  struct Outcome {
    std::string problem, call;
    double seconds = 0;
  };
  Outcome run_once(std::span<const uint8_t> values);
  void run_decoded(const FuzzCall& call, bool trace, bool differentiate);

  std::vector<uint8_t> kind_;
  std::optional<Traced> traced_;
};

// The call alone.
std::string run_fuzz_call(const FuzzInput& input);

// The simplest bytes found for which it still fails: fewer of them, and zeros.
FuzzInput reduce_input(FuzzInput input, const std::function<bool(const FuzzInput&)>& fails);

std::string to_hex(const FuzzInput& input);  // "0a1b:ff00", kind and values
FuzzInput from_hex(std::string_view text);

}  // namespace anyshape::check

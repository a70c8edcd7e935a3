// verify(): is a compiled function right at sizes nobody has tried? Runs it at many, compiled and op by op, and gives the smallest sizes at
// which the two differ.
//   auto center = as::function([](Tensor x) { return x - as::mean(x); }, {.signature = {as::spec(as::f32, {as::dim("rows"), 8})}});
//   const as::Verification result = as::verify(center, {{.name = "rows", .max = 100}}, {.count = 50});
//   if (!result) std::cout << to_string(result);
#pragma once
#include <anyshape/function.h>

#pragma GCC visibility push(default)
namespace anyshape {

/// The sizes tried for one symbol: by its name in the signature, or as the ledger shows it: a0 is axis 0 of the first tensor.
struct SizeRange {
  std::string name;
  int64_t min = 0;
  int64_t max = 16;
};

/// How many calls verify() tries, and how far their results may differ.
struct VerifyOptions {
  int64_t count = 32;      ///< calls; the first are at the ranges' ends and at 1, the others at random
  double relative = 1e-4;  ///< what floating results may differ by, as in all_close; NaN equals NaN
  double absolute = 1e-5;
  uint64_t seed = 0;  ///< of the sizes and values that are tried
};

/// What verify() found: true where compiled and eager results agree.
struct Verification {
  /// A symbol and its number.
  struct Size {
    std::string name;
    int64_t value;
  };
  int64_t tried = 0;
  int64_t refused = 0;      ///< of these: calls that threw both ways
  std::vector<Size> sizes;  ///< the smallest at which compiled and eager differ; empty where they agree
  std::string difference;   ///< what differs there
  std::string refusal;      ///< what the first call that was refused both ways threw

  int64_t compared() const { return tried - refused; }  ///< calls that did not throw both ways
  /// Whether they agree: nothing differs, and something was compared.
  explicit operator bool() const { return difference.empty() && compared() > 0; }
};
std::string to_string(const Verification& verification);  ///< one line

/// Arguments are made by the signature: floating values around 0, integers from 0 to 3. Sizes of symbols without a range go from the least
/// that is allowed to 16 more. Variables and random state are left as they were; traces that are needed are made and stay, calls are not
/// counted. ArgumentError for a name or range that the signature does not have, and for arguments that would not fit in memory.
template <class R, class... Args>
  requires(std::is_same_v<std::decay_t<Args>, Tensor> && ...)
Verification verify(const Function<R(Args...)>& function, std::vector<SizeRange> ranges = {}, VerifyOptions options = {}) {
  const std::array<Tensor, sizeof...(Args)> none{};
  return std::apply(
      [&](const auto&... each) {
        const detail::TypedCall<R, Args...> call(function.callable(), each...);
        return function.core().verify({}, {}, call, ranges, options);
      },
      none);
}

/// Likewise by examples of the arguments: host values stay, tensors are made of the example's elements in other sizes. Without a signature
/// sizes that are equal in the examples change together.
template <class R, class... Args>
  requires(sizeof...(Args) > 0)
Verification verify(const Function<R(Args...)>& function, std::vector<SizeRange> ranges, VerifyOptions options,
                    detail::Parameter<Args>... examples) {
  const detail::TypedCall<R, Args...> call(function.callable(), examples...);
  std::vector<Tensor> tensors;
  std::string key;
  call.read(tensors, key);
  return function.core().verify(std::move(tensors), key, call, ranges, options);
}

}  // namespace anyshape
#pragma GCC visibility pop

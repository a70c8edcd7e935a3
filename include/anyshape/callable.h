// Callables of the user's that may be empty: refused where they are given, before anything runs.
#pragma once
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)
namespace anyshape::detail {

/// ArgumentError: `place` is who was given it ("scan"), `what` its part ("the body").
[[noreturn]] void refuse_empty_callable(std::string_view place, std::string_view what);

/// A std::function or a pointer to a function may be empty; other callables are not.
template <class Callable>
void require_callable(const Callable& callable, std::string_view place, std::string_view what) {
  if constexpr (std::is_pointer_v<Callable>) {
    if (callable == nullptr) refuse_empty_callable(place, what);
  } else if constexpr (requires { callable.operator bool(); }) {
    if (!callable.operator bool()) refuse_empty_callable(place, what);
  }
}

}  // namespace anyshape::detail
#pragma GCC visibility pop

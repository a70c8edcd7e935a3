// The error for an empty callable.
#include <anyshape/callable.h>
#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {

void detail::refuse_empty_callable(std::string_view place, std::string_view what) {
  throw ArgumentError(fmt::format("{}: {} is empty; expected something that can be called.", place, what));
}

}  // namespace anyshape

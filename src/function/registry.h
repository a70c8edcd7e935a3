// The list of all functions of the process, behind as::functions().
#pragma once
#include <anyshape/function.h>

namespace anyshape {

using detail::FunctionCore;

// On the list while it lives.
class FunctionCore::Registration {
 public:
  explicit Registration(const FunctionCore& core);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  uint64_t number_;
};

namespace function_detail {

// As the function was made with.
const FunctionOptions& options_of(const detail::FunctionCore& core);

}  // namespace function_detail
}  // namespace anyshape

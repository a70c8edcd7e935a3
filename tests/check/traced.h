// A function of any number of tensors, which function() has no spelling for.
#pragma once
#include <anyshape/function.h>

#include <functional>
#include <span>
#include <vector>

namespace anyshape::check {

class Traced {
 public:
  using Callable = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  explicit Traced(Callable callable, FunctionOptions options = {.name = "check", .retrace = Retrace::Allow})
      : callable_(std::move(callable)), core_(std::move(options)) {}

  std::vector<Tensor> operator()(std::vector<Tensor> tensors) {
    const FunctionCore::Body body{
        [](void* state, std::span<const Tensor> replaced) { return static_cast<Traced*>(state)->callable_(replaced); }, this};
    return core_.call(std::move(tensors), "", body);
  }
  FunctionStats stats() const { return core_.stats(); }
  std::vector<TraceRecord> traces() const { return core_.traces(); }

 private:
  Callable callable_;
  FunctionCore core_;
};

}  // namespace anyshape::check

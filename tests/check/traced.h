// A function of any number of tensors.
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
      : function_([callable = std::move(callable)](const std::vector<Tensor>& tensors) { return callable(tensors); }, std::move(options)) {}

  std::vector<Tensor> operator()(const std::vector<Tensor>& tensors) { return function_(tensors); }
  FunctionStats stats() const { return function_.stats(); }
  std::vector<TraceRecord> traces() const { return function_.traces(); }
  const auto& function() const { return function_; }

 private:
  Function<std::vector<Tensor>(const std::vector<Tensor>&)> function_;
};

}  // namespace anyshape::check

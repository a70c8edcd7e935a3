// Reductions along axes, and what is composed of them. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] anyshape {

// Axes of a reduction: all of them unless listed. {1}, {0, -1}; negative ones count from the end.
class Axes {
 public:
  Axes() = default;
  Axes(std::initializer_list<int64_t> axes) : axes_(axes) {}
  Axes(std::vector<int64_t> axes) : axes_(std::move(axes)) {}
  bool has_value() const { return axes_.has_value(); }
  const std::vector<int64_t>& operator*() const { return *axes_; }

 private:
  std::optional<std::vector<int64_t>> axes_;
};

struct ReduceOptions {
  Axes axes = {};
  bool keep_dims = false;
};
Tensor sum(const Tensor& x, ReduceOptions options = {});
Tensor max(const Tensor& x, ReduceOptions options = {});
Tensor mean(const Tensor& x, ReduceOptions options = {});

struct AxisOptions {
  int64_t axis = -1;
};
Tensor softmax(const Tensor& x);  // along the last axis
Tensor softmax(const Tensor& x, AxisOptions options);
Tensor log_softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x, AxisOptions options);

}  // namespace anyshape

// Reductions along axes, and what is composed of them. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

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
Tensor sum(const Tensor& x, ReduceOptions options = {});            // b8 counts in i32, integers wrap; of nothing 0
Tensor prod(const Tensor& x, ReduceOptions options = {});           // as sum; of nothing 1
Tensor max(const Tensor& x, ReduceOptions options = {});            // NaN where there is one; of nothing the lowest finite number
Tensor min(const Tensor& x, ReduceOptions options = {});            // NaN where there is one; of nothing the highest finite number
Tensor mean(const Tensor& x, ReduceOptions options = {});           // integers give f32; of nothing NaN
Tensor any(const Tensor& x, ReduceOptions options = {});            // b8: is some element not zero? Of nothing false
Tensor all(const Tensor& x, ReduceOptions options = {});            // b8: is every element not zero? Of nothing true
Tensor count_nonzero(const Tensor& x, ReduceOptions options = {});  // i32

struct ArgExtremeOptions {
  std::optional<int64_t> axis = std::nullopt;  // none: all elements, counted in row-major order
  bool keep_dims = false;
};
// The place of the greatest or least element as i32: the first of equal ones, the first NaN where there is one; of nothing a ShapeError.
Tensor argmax(const Tensor& x, ArgExtremeOptions options = {});
Tensor argmin(const Tensor& x, ArgExtremeOptions options = {});

struct VarianceOptions {
  Axes axes = {};
  bool keep_dims = false;
  double correction = 0;  // the divisor is the number of elements less this one; 1 estimates from a sample
};
Tensor var(const Tensor& x, VarianceOptions options = {});  // mean squared distance from the mean
Tensor std(const Tensor& x, VarianceOptions options = {});  // its square root

struct NormOptions {
  double order = 2;  // 1: sum of sizes, 2: Euclidean length, infinity: greatest size
  Axes axes = {};    // what makes one vector: all elements unless listed
  bool keep_dims = false;
};
Tensor norm(const Tensor& x, NormOptions options = {});

struct CumulateOptions {
  int64_t axis = -1;
  bool reverse = false;    // from the end
  bool exclusive = false;  // without the element itself
};
Tensor cumsum(const Tensor& x, CumulateOptions options = {});  // sums up to each element along the axis
Tensor cumprod(const Tensor& x, CumulateOptions options = {});

struct AxisOptions {
  int64_t axis = -1;
};
Tensor softmax(const Tensor& x);  // along the last axis
Tensor softmax(const Tensor& x, AxisOptions options);
Tensor log_softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x, AxisOptions options);

}  // namespace anyshape
#pragma GCC visibility pop

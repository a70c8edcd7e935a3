// Reductions along axes, and what is composed of them. The same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// Axes of a reduction: all of them unless listed. {1}, {0, -1}; negative ones count from the end.
class Axes {
 public:
  Axes() = default;
  Axes(std::initializer_list<int64_t> axes) : axes_(axes) {}
  Axes(std::vector<int64_t> axes) : axes_(std::move(axes)) {}
  bool has_value() const { return axes_.has_value(); }              ///< whether axes are listed
  const std::vector<int64_t>& operator*() const { return *axes_; }  ///< those listed, as given; only where has_value()

 private:
  std::optional<std::vector<int64_t>> axes_;
};

/// The axes that are reduced, all unless named; keep_dims keeps them with size 1.
struct ReduceOptions {
  Axes axes = {};
  std::optional<int64_t> axis = std::nullopt;  ///< one axis; an ArgumentError beside `axes`
  bool keep_dims = false;
};
Tensor sum(const Tensor& x, ReduceOptions options = {});   ///< integers wrap; b8 counts in i32, a ShapeError beyond it; of nothing 0
Tensor prod(const Tensor& x, ReduceOptions options = {});  ///< as sum; of nothing 1
Tensor max(const Tensor& x, ReduceOptions options = {});   ///< NaN where there is one; of nothing the lowest finite number
Tensor min(const Tensor& x, ReduceOptions options = {});   ///< NaN where there is one; of nothing the highest finite number
Tensor mean(const Tensor& x, ReduceOptions options = {});  ///< integers give f32; of nothing NaN
Tensor any(const Tensor& x, ReduceOptions options = {});   ///< b8: is some element not zero? Of nothing false
Tensor all(const Tensor& x, ReduceOptions options = {});   ///< b8: is every element not zero? Of nothing true
Tensor count_nonzero(const Tensor& x, ReduceOptions options = {});  ///< i64

/// The axis of argmax and argmin; keep_dims keeps it with size 1.
struct ArgExtremeOptions {
  std::optional<int64_t> axis = std::nullopt;  ///< none: all elements, counted in row-major order
  bool keep_dims = false;
};
/// The index of the greatest or least element as i32: the first of equal ones, the first NaN where there is one; of nothing a ShapeError.
///@{
Tensor argmax(const Tensor& x, ArgExtremeOptions options = {});
Tensor argmin(const Tensor& x, ArgExtremeOptions options = {});
///@}

/// The axes of var and std as in ReduceOptions, and the divisor.
struct VarianceOptions {
  Axes axes = {};
  std::optional<int64_t> axis = std::nullopt;
  bool keep_dims = false;
  double correction = 0;  ///< the divisor is the number of elements less this one; 1 estimates from a sample
};
Tensor var(const Tensor& x, VarianceOptions options = {});  ///< mean squared distance from the mean
Tensor std(const Tensor& x, VarianceOptions options = {});  ///< its square root

/// The order of norm, and its axes as in ReduceOptions; orders other than 1, 2 and infinity are an ArgumentError.
struct NormOptions {
  double order = 2;  ///< 1: sum of sizes, 2: Euclidean length, infinity: greatest size
  Axes axes = {};    ///< what makes one vector: all elements unless listed
  std::optional<int64_t> axis = std::nullopt;
  bool keep_dims = false;
};
Tensor norm(const Tensor& x, NormOptions options = {});  ///< integers give f32; of nothing 0

/// The axis of cumsum and cumprod, and from which end they go.
struct CumulateOptions {
  int64_t axis = -1;
  bool reverse = false;    ///< from the end
  bool exclusive = false;  ///< without the element itself
};
Tensor cumsum(const Tensor& x, CumulateOptions options = {});   ///< sums up to each element along the axis
Tensor cumprod(const Tensor& x, CumulateOptions options = {});  ///< likewise products; integers wrap

/// The axis of softmax and log_softmax.
struct AxisOptions {
  int64_t axis = -1;
};
Tensor softmax(const Tensor& x);                           ///< along the last axis
Tensor softmax(const Tensor& x, AxisOptions options);      ///< along the axis that is named
Tensor log_softmax(const Tensor& x);                       ///< log(softmax(x)), accurate where that is small; along the last axis
Tensor log_softmax(const Tensor& x, AxisOptions options);  ///< along the axis that is named

}  // namespace anyshape
#pragma GCC visibility pop

// Operations on tensors: the same functions eagerly and inside a traced function.
#pragma once
#include <anyshape/tensor.h>

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] anyshape {

// Elementwise, with NumPy's broadcasting.
Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);  // integers give f32
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor negative(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor cast(const Tensor& x, Dtype dtype);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator-(const Tensor& x) { return negative(x); }
inline Tensor operator==(const Tensor& a, const Tensor& b) { return equal(a, b); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return not_equal(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return less(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return less_equal(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return greater(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return greater_equal(a, b); }

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

// Contraction: [..., m, k] with [..., k, n] gives [..., m, n]; leading axes broadcast.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});

// Movement. In `reshape` one size may be -1: what is left.
Tensor reshape(const Tensor& x, const Shape& shape);
Tensor transpose(const Tensor& x, const std::vector<int64_t>& permutation = {});  // none: axes reversed
Tensor broadcast_to(const Tensor& x, const Shape& shape);
Tensor sum_to(const Tensor& x, const Shape& shape);  // the reverse of broadcast_to: sums what was repeated
struct SliceRange {
  Dim begin = 0;
  std::optional<Dim> end = std::nullopt;  // none: to the end
};
Tensor slice(const Tensor& x, const std::vector<SliceRange>& ranges);  // one range per leading axis; negative bounds count from the end
struct ConcatOptions {
  int64_t axis = 0;
};
Tensor concat(const std::vector<Tensor>& tensors, ConcatOptions options = {});

// Index: rows of x along an axis; negative indices count from the end, others outside are a DataError.
struct TakeOptions {
  int64_t axis = 0;
};
Tensor take(const Tensor& x, const Tensor& indices, TakeOptions options = {});

// Making.
struct MakeOptions {
  Dtype dtype = Dtype::f32;
};
Tensor full(const Shape& shape, const Tensor& value);  // the value's dtype (a host float is f32, a host integer i32)
Tensor ones(const Shape& shape, MakeOptions options = {});
Tensor zeros(const Shape& shape, MakeOptions options = {});
struct ArangeOptions {
  Dtype dtype = Dtype::i32;
};
Tensor arange(const Dim& end, ArangeOptions options = {});  // 0, 1, ..., end - 1
Tensor arange(const Dim& begin, const Dim& end, ArangeOptions options = {});
Tensor size(const Tensor& x, int64_t axis);  // a size as an i64 tensor

}  // namespace anyshape

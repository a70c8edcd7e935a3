// Tensors: values of one dtype and shape. A Tensor is a cheap handle; what it refers to never changes.
#pragma once
#include <anyshape/dtype.h>
#include <anyshape/shape.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

struct TensorImpl;

class Tensor {
 public:
  Tensor() = default;  // refers to nothing
  // A host number: takes the dtype of the tensor it meets (x + 2 stays f32), alone it is f32, i32 or b8.
  template <class T>
    requires std::is_arithmetic_v<T>
  Tensor(T number) : Tensor(from_number(number)) {}

  bool defined() const { return impl_ != nullptr; }
  Shape shape() const;  // inside a trace the sizes are expressions
  int rank() const;
  Dtype dtype() const;

  // A ragged tensor has rows of unequal length along axis 1, [rows, (shortest..longest), ...], and no padding; <anyshape/ragged.h> makes them.
  bool is_ragged() const;
  Tensor values() const;      // the elements of all rows one after the other, [total, ...]; a dense tensor is its own values
  Tensor row_splits() const;  // i64[rows + 1]: row r is values[splits[r]] up to values[splits[r + 1]]; ArgumentError for a dense tensor

  // The value of a tensor with one element, converted to T.
  template <class T>
  T item() const;
  // All elements in row-major order, those of a ragged tensor row by row; T must be the tensor's element type, float for f16 and bf16.
  template <class T>
  std::vector<T> to_vector() const;
  explicit operator bool() const;  // of one element: is it not zero?

  explicit Tensor(std::shared_ptr<const TensorImpl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<const TensorImpl>& impl() const { return impl_; }

 private:
  static Tensor from_number(double number);
  static Tensor from_number(float number) { return from_number(static_cast<double>(number)); }
  static Tensor from_number(int64_t number);
  static Tensor from_number(bool number);
  template <std::integral I>
  static Tensor from_number(I number) {
    return from_number(static_cast<int64_t>(number));
  }

  std::shared_ptr<const TensorImpl> impl_;
};

// From host numbers; the element type decides the dtype: tensor({1, 2}) is i32[2], tensor({{1.f}, {2.f}}) is f32[2, 1].
template <class T>
Tensor tensor(std::initializer_list<T> values);
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows);
template <class T>
Tensor tensor(const std::vector<T>& values, const Shape& shape);

// Equal dtype, shape and elements (NaN equals nothing, as in NumPy).
bool all_equal(const Tensor& a, const Tensor& b);

struct CloseOptions {
  double relative = 1e-5;
  double absolute = 1e-8;
};
// |a - b| <= absolute + relative * |b| everywhere; shapes must be equal.
bool all_close(const Tensor& a, const Tensor& b, CloseOptions options = {});

// NumPy's layout: nested brackets, long axes cut in the middle.
std::string to_string(const Tensor& tensor);

}  // namespace anyshape
#pragma GCC visibility pop

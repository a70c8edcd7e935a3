// Tensors: values of one dtype and shape. A Tensor is a cheap handle; what it refers to never changes.
#pragma once
#include <anyshape/dtype.h>
#include <anyshape/index.h>
#include <anyshape/shape.h>

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

namespace detail {
struct TensorImpl;
}

/// A handle on values that never change; copies share them. ArgumentError from shape(), rank() and dtype() of one that refers to nothing.
class Tensor {
 public:
  Tensor() = default;  ///< refers to nothing
  /// A host number: takes the dtype of the tensor it meets (x + 2 stays f32), alone f32, i32 or b8. Until then its 64 bits stay, in + - * / too.
  template <class T>
    requires std::is_arithmetic_v<T>
  Tensor(T number) : Tensor(from_number(number)) {}

  bool defined() const { return impl_ != nullptr; }  ///< whether it refers to a tensor
  Shape shape() const;                               ///< inside a trace the sizes are expressions
  int rank() const;                                  ///< the number of axes
  Dtype dtype() const;                               ///< of the elements

  /// A ragged tensor has rows of unequal length along axis 1, [rows, (shortest..longest), ...], and no padding; <anyshape/ragged.h> makes them.
  bool is_ragged() const;
  Tensor values() const;      ///< the elements of all rows one after the other, [total, ...]; a dense tensor is its own values
  Tensor row_splits() const;  ///< i64[rows + 1]: row r is values[splits[r]] up to values[splits[r + 1]]; ArgumentError for a dense tensor

  /// x[2] is what stands at 2 along axis 0, x[{1, -1}] a part of that axis, x[i] for a tensor of indices take(x, i), x[mask] boolean_mask(x, mask).
  Tensor operator[](const Index& index) const;
  /// The same for several axes, from the first on: x.at(0, as::whole, {1, -1}); axes that are not named stay whole.
  ///@{
  Tensor at(const Index& axis0) const;
  Tensor at(const Index& axis0, const Index& axis1) const;
  Tensor at(const Index& axis0, const Index& axis1, const Index& axis2) const;
  Tensor at(const Index& axis0, const Index& axis1, const Index& axis2, const Index& axis3) const;
  Tensor at(const Index& axis0, const Index& axis1, const Index& axis2, const Index& axis3, const Index& axis4, const Index& axis5 = {},
            const Index& axis6 = {}, const Index& axis7 = {}) const;
  ///@}

  /// The value of a tensor with one element, converted to T.
  template <class T>
  T item() const;
  /// The element at these indices, one for each axis; negative ones count from the end. x.item<float>(1, 2)
  template <class T, std::integral... Indices>
    requires(sizeof...(Indices) > 0)
  T item(Indices... indices) const {
    const int64_t index[] = {static_cast<int64_t>(indices)...};
    return element<T>(index);
  }
  /// All elements in row-major order, those of a ragged tensor row by row; T must be the tensor's element type, float for f16 and bf16.
  template <class T>
  std::vector<T> to_vector() const;
  explicit operator bool() const;  ///< of one element: is it not zero?

  /// The elements where they are, without a copy, as long as this tensor or one that shares its memory lives; T as for to_vector, uint16_t for
  /// the bits of f16 and bf16. They lie in row-major order: of a view that does not it is a ShapeError (row_major(x) first), and a TraceError
  /// inside a trace.
  template <class T>
  std::span<const T> data() const&;
  template <class T>
  std::span<const T> data() const&& = delete;  ///< the tensor would be gone before its elements are read: give it a name first
  std::vector<int64_t> strides()
      const;  ///< elements from one to the next along each axis: 0 where it is repeated, negative where it is flipped

  friend std::ostream& operator<<(std::ostream& out, const Tensor& tensor);  ///< as to_string

  explicit Tensor(std::shared_ptr<const detail::TensorImpl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<const detail::TensorImpl>& impl() const { return impl_; }  ///< what copies share; null where it refers to nothing

 private:
  template <class T>
  T element(std::span<const int64_t> indices) const;
  static Tensor from_number(double number);
  static Tensor from_number(float number) { return from_number(static_cast<double>(number)); }
  static Tensor from_number(int64_t number);
  static Tensor from_number(bool number);
  template <std::integral I>
  static Tensor from_number(I number) {
    return from_number(static_cast<int64_t>(number));
  }

  std::shared_ptr<const detail::TensorImpl> impl_;
};

inline Index::Index(const Tensor& indices) : kind_(Kind::Tensor), indices_(indices.impl()) {}
inline Tensor Index::indices() const { return Tensor(indices_); }

/// From host numbers; the element type decides the dtype: tensor({1, 2}) is i32[2], tensor({{1.f}, {2.f}}) is f32[2, 1].
///@{
template <class T>
Tensor tensor(std::initializer_list<T> values);
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows);
template <class T>
Tensor tensor(const std::vector<T>& values);  ///< [values.size()]
template <class T>
Tensor tensor(const std::vector<std::vector<T>>& rows);  ///< rows of one length; ragged takes others
template <class T>
Tensor tensor(const std::vector<T>& values, const Shape& shape);
///@}

/// Equal dtype, shape and elements (NaN equals nothing, as in NumPy).
bool all_equal(const Tensor& a, const Tensor& b);

/// How much all_close lets numbers differ; the defaults are NumPy's.
struct CloseOptions {
  double relative = 1e-5;
  double absolute = 1e-8;
};
/// |a - b| <= absolute + relative * |b| everywhere; shapes must be equal.
bool all_close(const Tensor& a, const Tensor& b, CloseOptions options = {});

/// NumPy's layout: nested brackets, long axes cut in the middle.
std::string to_string(const Tensor& tensor);

}  // namespace anyshape
#pragma GCC visibility pop

// The sizes of a tensor, outermost first; at most 8 of them.
#pragma once
#include <anyshape/dim.h>

#include <array>
#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

inline constexpr int max_rank = 8;  ///< of a shape; more is a ShapeError

/// Sizes by axis: Shape{batch, 784}. Without any it is the shape of a single number.
class Shape {
 public:
  Shape() = default;
  Shape(const Shape& other);
  Shape(Shape&& other) noexcept;
  Shape& operator=(const Shape& other);      ///< the same sizes
  Shape& operator=(Shape&& other) noexcept;  ///< `other` has rank 0 afterwards
  ~Shape() = default;
  Shape(std::initializer_list<Dim> dims);
  Shape(const std::vector<Dim>& dims);
  template <std::integral Integer>
  Shape(const std::vector<Integer>& sizes) : Shape(std::vector<Dim>(sizes.begin(), sizes.end())) {}
  explicit Shape(std::span<const Dim> dims);
  explicit Shape(std::span<const int64_t> sizes);

  int rank() const { return rank_; }                                                 ///< the number of axes
  const Dim& operator[](int axis) const;                                             ///< negative counts from the end; ShapeError outside
  Dim& operator[](int axis);                                                         ///< likewise, to change it
  const Dim* begin() const { return more_ == nullptr ? few_.data() : more_.get(); }  ///< the sizes, outermost first
  const Dim* end() const { return begin() + rank_; }                                 ///< behind the last size
  void push_back(Dim dim);                                                           ///< ShapeError beyond rank 8
  Dim count() const;                                                                 ///< the number of elements, checked against overflow
  bool is_constant() const;                                                          ///< no symbolic size
  bool same_as(const Shape& other) const;                  ///< the same expressions, as Dim::same_as; never records anything
  friend bool operator==(const Shape& a, const Shape& b);  ///< as for Dim: may record checks inside a trace
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape);  ///< as to_string

 private:
  template <class Size>
  void assign(std::span<const Size> sizes);
  Dim* make_room();  ///< for max_rank sizes

  /// Most shapes have few sizes: they stand in the shape itself, since what is allocated one by one lies all over memory.
  std::array<Dim, 4> few_;
  std::unique_ptr<Dim[]> more_;  ///< all of them where there are more
  int rank_ = 0;
};

std::string to_string(const Shape& shape);  ///< "[batch, 784]"

}  // namespace anyshape
#pragma GCC visibility pop

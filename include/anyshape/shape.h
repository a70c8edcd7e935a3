// The sizes of a tensor, outermost first; at most 8 of them.
#pragma once
#include <anyshape/dim.h>

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

inline constexpr int max_rank = 8;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims);
  explicit Shape(std::span<const Dim> dims);
  explicit Shape(std::span<const int64_t> sizes);

  int rank() const { return static_cast<int>(dims_.size()); }
  const Dim& operator[](int axis) const;  // negative counts from the end; ShapeError outside
  Dim& operator[](int axis);
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  void push_back(Dim dim);   // ShapeError beyond rank 8
  Dim count() const;         // the number of elements, checked against overflow
  bool is_constant() const;  // no symbolic size
  bool same_as(const Shape& other) const;
  friend bool operator==(const Shape& a, const Shape& b);  // as for Dim: may record checks inside a trace

 private:
  std::vector<Dim> dims_;
};

std::string to_string(const Shape& shape);  // "[batch, 784]"

}  // namespace anyshape
#pragma GCC visibility pop

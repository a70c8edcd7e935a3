// Shape: a short list of sizes with its rank limit.
#include <anyshape/error.h>
#include <anyshape/shape.h>
#include <fmt/format.h>

#include <algorithm>

// Friends declared inside a class do not take the visibility of its namespace, so it is said again where they are defined.
namespace [[gnu::visibility("default")]] anyshape {
namespace {

void require_rank(size_t rank) {
  if (rank > static_cast<size_t>(max_rank)) throw ShapeError(fmt::format("shape: rank {}; expected at most {}.", rank, max_rank));
}

size_t require_axis(int axis, const Shape& shape) {
  const int rank = shape.rank();
  if (axis < -rank || axis >= rank) {
    throw ShapeError(fmt::format("shape: axis {} of {}; expected {} <= axis < {}.", axis, to_string(shape), -rank, rank));
  }
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace

Shape::Shape(std::initializer_list<Dim> dims) : dims_(dims) { require_rank(dims_.size()); }

Shape::Shape(std::span<const Dim> dims) {
  require_rank(dims.size());
  dims_.assign(dims.begin(), dims.end());
}

Shape::Shape(std::span<const int64_t> sizes) {
  require_rank(sizes.size());
  dims_.assign(sizes.begin(), sizes.end());
}

const Dim& Shape::operator[](int axis) const { return dims_[require_axis(axis, *this)]; }
Dim& Shape::operator[](int axis) { return dims_[require_axis(axis, *this)]; }

void Shape::push_back(Dim dim) {
  require_rank(dims_.size() + 1);
  dims_.push_back(std::move(dim));
}

// With a 0 among them the count is 0, whether or not the others' product would overflow.
Dim Shape::count() const {
  if (std::any_of(begin(), end(), [](const Dim& dim) { return dim.is_constant() && dim.value() == 0; })) return 0;
  Dim product = 1;
  for (const Dim& dim : dims_) product = product * dim;
  return product;
}

bool Shape::is_constant() const {
  return std::all_of(begin(), end(), [](const Dim& dim) { return dim.is_constant(); });
}

bool Shape::same_as(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end(), [](const Dim& a, const Dim& b) { return a.same_as(b); });
}

bool operator==(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const Dim& dim : shape) text += (text.size() > 1 ? ", " : "") + to_string(dim);
  return text + "]";
}

}  // namespace anyshape

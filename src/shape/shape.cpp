// Shape: a short list of sizes with its rank limit.
#include <anyshape/error.h>
#include <anyshape/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <span>
#include <utility>

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

Shape::Shape(const Shape& other) { assign(std::span(other.begin(), other.end())); }

Shape::Shape(Shape&& other) noexcept : more_(std::move(other.more_)), rank_(std::exchange(other.rank_, 0)) {
  if (more_ == nullptr) std::move(other.few_.begin(), other.few_.begin() + rank_, few_.begin());
}

Shape& Shape::operator=(const Shape& other) { return *this = Shape(other); }

Shape& Shape::operator=(Shape&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  std::construct_at(this, std::move(other));
  return *this;
}

Shape::Shape(std::initializer_list<Dim> dims) { assign(std::span(dims.begin(), dims.end())); }
Shape::Shape(const std::vector<Dim>& dims) : Shape(std::span<const Dim>(dims)) {}
Shape::Shape(std::span<const Dim> dims) { assign(dims); }
Shape::Shape(std::span<const int64_t> sizes) { assign(sizes); }

template <class Size>
void Shape::assign(std::span<const Size> sizes) {
  require_rank(sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes.size() > few_.size() ? make_room() : few_.data());
  rank_ = static_cast<int>(sizes.size());
}

Dim* Shape::make_room() {
  more_ = std::make_unique<Dim[]>(max_rank);
  std::move(few_.begin(), few_.end(), more_.get());
  return more_.get();
}

const Dim& Shape::operator[](int axis) const { return begin()[require_axis(axis, *this)]; }
Dim& Shape::operator[](int axis) { return const_cast<Dim*>(begin())[require_axis(axis, *this)]; }

void Shape::push_back(Dim dim) {
  require_rank(static_cast<size_t>(rank_) + 1);
  if (rank_ == static_cast<int>(few_.size()) && more_ == nullptr) make_room();
  const_cast<Dim*>(begin())[rank_++] = std::move(dim);
}

// With a 0 among them the count is 0, whether or not the others' product would overflow.
Dim Shape::count() const {
  if (std::any_of(begin(), end(), [](const Dim& dim) { return dim.is_constant() && dim.value() == 0; })) return 0;
  Dim product = 1;
  for (const Dim& dim : *this) product = product * dim;
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

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

}  // namespace anyshape

// What stands in the brackets of a tensor, one for each axis: x[2], x[{1, -1}], x.at(0, as::whole, {1, -1}).
#pragma once
#include <anyshape/dim.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

class Tensor;
namespace detail {
struct TensorImpl;
struct WholeAxis {};    ///< the type of `whole`
struct AxesBetween {};  ///< the type of `ellipsis`
}  // namespace detail

inline constexpr detail::WholeAxis whole;       ///< all of an axis; {} says the same
inline constexpr detail::AxesBetween ellipsis;  ///< all of as many axes as are left: x.at(as::ellipsis, 0) is about the last one

/// What is taken along one axis: all of it (the default), one index, a range, or what a tensor of indices or truth values names.
class Index {
 public:
  /// Which of these it is.
  enum class Kind : uint8_t { Whole, At, Range, Tensor, Ellipsis };

  Index() = default;
  Index(detail::WholeAxis) {}
  Index(detail::AxesBetween) : kind_(Kind::Ellipsis) {}
  /// One index: the axis goes. Negative counts from the end.
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Index(Integer index) : kind_(Kind::At), begin_(Dim(index)) {}
  Index(const Dim& index) : kind_(Kind::At), begin_(index) {}
  /// {begin, end} and {begin, end, step}, as NumPy's begin:end:step: the end is not in it, negative bounds count from the end, {} is an open end.
  Index(std::optional<Dim> begin, std::optional<Dim> end, int64_t step = 1)
      : kind_(Kind::Range), begin_(std::move(begin)), end_(std::move(end)), step_(step) {}
  Index(const Tensor& indices);  ///< i32 or i64: as take; b8, alone: as boolean_mask

  Kind kind() const { return kind_; }                         ///< says which of the others count
  const Dim& at() const { return *begin_; }                   ///< of At
  const std::optional<Dim>& begin() const { return begin_; }  ///< of Range; none: open
  const std::optional<Dim>& end() const { return end_; }      ///< likewise
  int64_t step() const { return step_; }                      ///< of Range; 1 unless given
  Tensor indices() const;                                     ///< of Tensor

 private:
  Kind kind_ = Kind::Whole;
  std::optional<Dim> begin_, end_;
  int64_t step_ = 1;
  std::shared_ptr<const detail::TensorImpl> indices_;
};

/// Indices of several axes as one value, for updated(x, as::at(0, {1, -1}), value).
struct Indices {
  std::vector<Index> axes;
};
/// The indices of the axes from the first on; axes that are not named stay whole.
///@{
Indices at(const Index& axis0);
Indices at(const Index& axis0, const Index& axis1);
Indices at(const Index& axis0, const Index& axis1, const Index& axis2);
Indices at(const Index& axis0, const Index& axis1, const Index& axis2, const Index& axis3);
Indices at(const Index& axis0, const Index& axis1, const Index& axis2, const Index& axis3, const Index& axis4, const Index& axis5 = {},
           const Index& axis6 = {}, const Index& axis7 = {});
///@}

}  // namespace anyshape
#pragma GCC visibility pop

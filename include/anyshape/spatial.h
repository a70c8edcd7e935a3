// Numbers along the spatial axes of images, sequences and volumes: kernel sizes, strides, padding.
#pragma once
#include <anyshape/config.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// A number for every spatial axis, or one for each of them: 3, {3, 5}.
class PerAxis : public detail::ShownByConfig<PerAxis> {
 public:
  PerAxis(int64_t all) : numbers_{all} {}
  PerAxis(std::initializer_list<int64_t> each) : numbers_(each) {}
  explicit PerAxis(std::vector<int64_t> each) : numbers_(std::move(each)) {}

  const std::vector<int64_t>& numbers() const { return numbers_; }  ///< as they were given
  /// One number for each of so many axes. ArgumentError "Conv2D: strides is [2, 2, 2]; expected one number, or one for each of 2 axes.", and for
  /// numbers below `least`.
  std::vector<int64_t> along(int axes, const std::string& owner, const std::string& what, int64_t least = 1) const;
  Config config() const;                                               ///< a whole number or a list
  static constexpr const char* in_words = "a whole number or a list";  ///< what a config says where one is expected

 private:
  std::vector<int64_t> numbers_;
};

/// What is put around the spatial axes: "valid" nothing; "same" as much as gives ceil(n / stride) results, the odd one behind; "causal" all of it
/// before, along the one axis of a sequence; or so many elements before and behind each axis: 1, {1, 2}, {{1, 2}, {0, 1}}.
class Padding : public detail::ShownByConfig<Padding> {
 public:
  /// Which of them it is.
  enum class Kind : uint8_t { Valid, Same, Causal, Explicit };
  /// Before and behind an axis.
  using Ends = std::pair<int64_t, int64_t>;

  Padding(const char* name);  ///< ArgumentError with the near names for an unknown one
  Padding(const std::string& name);
  template <std::integral Number>
  Padding(Number all) : Padding(std::initializer_list<int64_t>{static_cast<int64_t>(all)}) {}  ///< as many at all ends
  Padding(std::initializer_list<int64_t> each);                                                ///< at both ends of each axis
  Padding(std::initializer_list<Ends> each) : Padding(std::vector<Ends>(each)) {}              ///< at the ends of each axis
  explicit Padding(std::vector<Ends> each);

  Kind kind() const { return kind_; }  ///< by name, or explicit
  /// Of an explicit one, for each of so many axes; ArgumentError naming the owner for another number of them.
  std::vector<Ends> along(int axes, const std::string& owner) const;
  Config config() const;  ///< a text, a whole number or a list

 private:
  Kind kind_ = Kind::Explicit;
  std::vector<Ends> ends_;
};

/// From a whole number or a list, and from a text, a whole number or a list.
///@{
template <class Kind>
Kind make(const Config& config);
template <>
PerAxis make<PerAxis>(const Config& config);
template <>
Padding make<Padding>(const Config& config);
///@}

}  // namespace anyshape
#pragma GCC visibility pop

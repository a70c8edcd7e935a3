// How weights start. Names and formulas are Keras's.
#pragma once
#include <anyshape/config.h>
#include <anyshape/tensor.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

/// What gives a weight its first value: a name, one of those below, or any callable on (shape, dtype).
class Initializer : public detail::ShownByConfig<Initializer> {
 public:
  Initializer(const char* name);  ///< "glorot_uniform", "zeros", ...; ArgumentError with the near names for an unknown one
  Initializer(const std::string& name);
  /// A callable of the user's, named "custom". ArgumentError at the call where its result has another shape or dtype.
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Shape&, Dtype> && (!std::convertible_to<Callable, std::string>)
  Initializer(Callable callable) : Initializer(std::function<Tensor(const Shape&, Dtype)>(std::move(callable)), "custom") {}
  Initializer(std::function<Tensor(const Shape&, Dtype)> callable, std::string name);

  Tensor operator()(const Shape& shape, Dtype dtype = Dtype::f32) const;  ///< every size a number
  const std::string& name() const { return name_; }                       ///< "glorot_uniform", ...; "custom" for a plain callable
  Config config() const;                                                  ///< its name and options; a plain callable says that it is one

 private:
  friend struct detail::MadeAccess;
  void set_made(std::shared_ptr<const detail::Made> made);

  std::function<Tensor(const Shape&, Dtype)> callable_;
  std::string name_;
  std::shared_ptr<const detail::Made> made_;
};
/// The registry of initializers.
template <>
Registry& registry_of<Initializer>();

Initializer constant(double value);            ///< "zeros" and "ones" are constant(0) and constant(1)
Initializer identity_matrix(double gain = 1);  ///< `gain` on the diagonal, 0 elsewhere; ShapeError for a weight that is no matrix

/// With a seed the same shape always gets the same numbers.
struct SeedOptions {
  std::optional<int64_t> seed = {};  ///< none: the numbers go on with as::random's
};
/// Variance 1 / fan_in (lecun), 2 / fan_in (he), 2 / (fan_in + fan_out) (glorot).
///@{
Initializer glorot_uniform(SeedOptions options = {});
Initializer glorot_normal(SeedOptions options = {});
Initializer he_uniform(SeedOptions options = {});
Initializer he_normal(SeedOptions options = {});
Initializer lecun_uniform(SeedOptions options = {});
Initializer lecun_normal(SeedOptions options = {});
///@}

/// The range of the numbers: low <= number < high.
struct RandomUniformOptions {
  double low = -0.05;
  double high = 0.05;
  std::optional<int64_t> seed = {};
};
Initializer random_uniform(RandomUniformOptions options = {});  ///< all numbers of the range are equally likely

/// Mean and deviation of the normal distribution; the deviation is not negative.
struct RandomNormalOptions {
  double mean = 0;
  double deviation = 0.05;
  std::optional<int64_t> seed = {};
};
Initializer random_normal(RandomNormalOptions options = {});     ///< from the whole normal distribution
Initializer truncated_normal(RandomNormalOptions options = {});  ///< drawn again beyond two deviations

/// The gain is a factor of the whole matrix.
struct OrthogonalOptions {
  double gain = 1;
  std::optional<int64_t> seed = {};
};
Initializer orthogonal(OrthogonalOptions options = {});  ///< orthonormal columns, or rows where those are fewer; ShapeError for a vector

/// The size of an [in, out] weight that its variance goes by; Average: (in + out) / 2.
enum class Fan { In, Out, Average };
/// What is drawn from; TruncatedNormal: cut at two deviations, of the same variance.
enum class Distribution { TruncatedNormal, Normal, Uniform };
/// The scale is greater than 0; the mode says which fan it is divided by.
struct VarianceScalingOptions {
  double scale = 1;
  Fan mode = Fan::In;
  Distribution distribution = Distribution::TruncatedNormal;
  std::optional<int64_t> seed = {};
};
Initializer variance_scaling(VarianceScalingOptions options = {});  ///< mean 0, variance scale / fan

}  // namespace anyshape
#pragma GCC visibility pop

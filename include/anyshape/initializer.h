// How weights start. Names and formulas are Keras's.
#pragma once
#include <anyshape/tensor.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

class Initializer {
 public:
  Initializer(const char* name);  // "glorot_uniform", "zeros", ...; ArgumentError with the near names for an unknown one
  Initializer(const std::string& name);
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Shape&, Dtype> && (!std::convertible_to<Callable, std::string>)
  Initializer(Callable callable) : Initializer(std::function<Tensor(const Shape&, Dtype)>(std::move(callable)), "custom") {}
  Initializer(std::function<Tensor(const Shape&, Dtype)> callable, std::string name);

  Tensor operator()(const Shape& shape, Dtype dtype = Dtype::f32) const;  // every size a number
  const std::string& name() const { return name_; }

 private:
  std::function<Tensor(const Shape&, Dtype)> callable_;
  std::string name_;
};

Initializer constant(double value);  // "zeros" and "ones" are constant(0) and constant(1)
Initializer identity_matrix(double gain = 1);

struct SeedOptions {
  std::optional<int64_t> seed = {};  // none: the numbers go on with as::random's
};
// Variance 1 / fan_in (lecun), 2 / fan_in (he), 2 / (fan_in + fan_out) (glorot).
Initializer glorot_uniform(SeedOptions options = {});
Initializer glorot_normal(SeedOptions options = {});
Initializer he_uniform(SeedOptions options = {});
Initializer he_normal(SeedOptions options = {});
Initializer lecun_uniform(SeedOptions options = {});
Initializer lecun_normal(SeedOptions options = {});

struct RandomUniformOptions {
  double low = -0.05;
  double high = 0.05;
  std::optional<int64_t> seed = {};
};
Initializer random_uniform(RandomUniformOptions options = {});

struct RandomNormalOptions {
  double mean = 0;
  double deviation = 0.05;
  std::optional<int64_t> seed = {};
};
Initializer random_normal(RandomNormalOptions options = {});
Initializer truncated_normal(RandomNormalOptions options = {});  // drawn again beyond two deviations

struct OrthogonalOptions {
  double gain = 1;
  std::optional<int64_t> seed = {};
};
Initializer orthogonal(OrthogonalOptions options = {});

enum class Fan { In, Out, Average };
enum class Distribution { TruncatedNormal, Normal, Uniform };
struct VarianceScalingOptions {
  double scale = 1;
  Fan mode = Fan::In;
  Distribution distribution = Distribution::TruncatedNormal;
  std::optional<int64_t> seed = {};
};
Initializer variance_scaling(VarianceScalingOptions options = {});

}  // namespace anyshape
#pragma GCC visibility pop

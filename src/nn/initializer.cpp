// Initializers: constants, uniform and normal numbers scaled by the fans, orthogonal matrices.
#include "base/option_rules.h"
#include "config/lasting_registry.h"
#include "config/own_callable.h"
#include "nn/orthogonal.h"

#include "tensor/half.h"

#include <anyshape/error.h>
#include <anyshape/initializer.h>
#include <anyshape/ops.h>
#include <anyshape/random.h>
#include <anyshape/registry.h>
#include <anyshape/spec.h>

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace anyshape {
namespace {

using Draw = std::function<Tensor(const Shape&, Dtype)>;

// What is left of a normal distribution cut at two deviations has this deviation.
constexpr double deviation_after_cut = 0.87962566103423978;

template <class Options>
Initializer seeded(const std::string& name, const Options& options, Draw draw) {
  if (!options.seed) return with_config(Initializer(std::move(draw), name), name, options);
  const Draw drawn = [seed = options.seed, draw = std::move(draw)](const Shape& shape, Dtype dtype) {
    const random::SeedScope scope(static_cast<uint64_t>(*seed));
    return draw(shape, dtype);
  };
  return with_config(Initializer(drawn, name), name, options);
}

void require_normal(const char* name, const RandomNormalOptions& options) {
  require::finite(name, "mean", options.mean);
  require::not_negative(name, "deviation", options.deviation);
}

struct Fans {
  double in;
  double out;
};

// A matrix is [in, out]; a convolution's kernel [window..., in, out], each multiplied by the window.
Fans fans_of(const Shape& shape) {
  if (shape.rank() == 0) return {1, 1};
  if (shape.rank() == 1) return {static_cast<double>(shape[0].value()), static_cast<double>(shape[0].value())};
  double window = 1;
  for (int axis = 0; axis < shape.rank() - 2; ++axis) window *= static_cast<double>(shape[axis].value());
  return {window * static_cast<double>(shape[-2].value()), window * static_cast<double>(shape[-1].value())};
}

// `given` is what the user wrote: the seed alone where the name says the rest.
template <class Options>
Initializer scaled(const std::string& name, const Options& given, VarianceScalingOptions options) {
  require::positive(name, "scale", options.scale);
  options.seed = given.seed;
  return seeded(name, given, [options](const Shape& shape, Dtype dtype) {
    const Fans fans = fans_of(shape);
    const double fan = options.mode == Fan::In ? fans.in : options.mode == Fan::Out ? fans.out : (fans.in + fans.out) / 2;
    const double variance = options.scale / std::max(1.0, fan);
    switch (options.distribution) {
      case Distribution::Uniform: {
        const double limit = std::sqrt(3 * variance);
        return random::uniform(shape, {.low = -limit, .high = limit, .dtype = dtype});
      }
      case Distribution::Normal: return random::normal(shape, {.deviation = std::sqrt(variance), .dtype = dtype});
      case Distribution::TruncatedNormal: break;
    }
    return random::truncated_normal(shape, {.deviation = std::sqrt(variance) / deviation_after_cut, .dtype = dtype});
  });
}

struct ConstantOptions {
  double value = 0;
};
struct IdentityOptions {
  double gain = 1;
};

}  // namespace

Initializer::Initializer(std::function<Tensor(const Shape&, Dtype)> callable, std::string name)
    : callable_(require::callable("initializer", "the callable", std::move(callable))), name_(std::move(name)) {}

template <>
Registry& registry_of<Initializer>() {
  return lasting_registry([] {
    auto* const made = new Registry("initializer");
    made->table().add(detail::registered("zeros", +[] { return with_config(constant(0), "zeros"); }));
    made->table().add(detail::registered("ones", +[] { return with_config(constant(1), "ones"); }));
    made->table().add(detail::registered("constant", +[](ConstantOptions options) { return constant(options.value); }));
    made->table().add(detail::registered("identity", +[](IdentityOptions options) { return identity_matrix(options.gain); }));
    made->table().add(detail::registered("glorot_uniform", glorot_uniform));
    made->table().add(detail::registered("glorot_normal", glorot_normal));
    made->table().add(detail::registered("he_uniform", he_uniform));
    made->table().add(detail::registered("he_normal", he_normal));
    made->table().add(detail::registered("lecun_uniform", lecun_uniform));
    made->table().add(detail::registered("lecun_normal", lecun_normal));
    made->table().add(detail::registered("random_uniform", random_uniform, {"uniform"}));
    made->table().add(detail::registered("random_normal", random_normal, {"normal"}));
    made->table().add(detail::registered("truncated_normal", truncated_normal));
    made->table().add(detail::registered("orthogonal", orthogonal));
    made->table().add(detail::registered("variance_scaling", variance_scaling));
    return made;
  });
}

Initializer::Initializer(const std::string& name) : Initializer(make<Initializer>(name)) {}
Initializer::Initializer(const char* name) : Initializer(std::string(name)) {}

void Initializer::set_made(std::shared_ptr<const detail::Made> made) { made_ = std::move(made); }
Config Initializer::config() const { return config_of_callable(made_, registry_of<Initializer>(), callable_); }

Tensor Initializer::operator()(const Shape& shape, Dtype dtype) const {
  // Random numbers are drawn in f32: a half has none of its own.
  Tensor value = is_half(dtype) ? cast(callable_(shape, Dtype::f32), dtype) : callable_(shape, dtype);
  if (value.dtype() != dtype || to_string(value.shape()) != to_string(shape)) {
    throw ArgumentError(fmt::format("initializer \"{}\": the result is {}; expected {}.", name_,
                                    to_string(TensorSpec{value.dtype(), value.shape()}), to_string(TensorSpec{dtype, shape})));
  }
  return value;
}

Initializer constant(double value) {
  require::finite("constant", "value", value);
  const Draw filled = [value](const Shape& shape, Dtype dtype) { return full(shape, cast(Tensor(value), dtype)); };
  return with_config(Initializer(filled, "constant"), "constant", ConstantOptions{value});
}
Initializer identity_matrix(double gain) {
  require::finite("identity_matrix", "gain", gain);
  const Draw diagonal = [gain](const Shape& shape, Dtype dtype) {
    if (shape.rank() != 2) throw ShapeError(fmt::format("identity_matrix: the weight is {}; expected a matrix.", to_string(shape)));
    return cast(eye(shape[0], {.columns = shape[1]}), dtype) * gain;
  };
  return with_config(Initializer(diagonal, "identity"), "identity", IdentityOptions{gain});
}

Initializer glorot_uniform(SeedOptions options) {
  return scaled("glorot_uniform", options, {.mode = Fan::Average, .distribution = Distribution::Uniform});
}
Initializer glorot_normal(SeedOptions options) { return scaled("glorot_normal", options, {.mode = Fan::Average}); }
Initializer he_uniform(SeedOptions options) { return scaled("he_uniform", options, {.scale = 2, .distribution = Distribution::Uniform}); }
Initializer he_normal(SeedOptions options) { return scaled("he_normal", options, {.scale = 2}); }
Initializer lecun_uniform(SeedOptions options) { return scaled("lecun_uniform", options, {.distribution = Distribution::Uniform}); }
Initializer lecun_normal(SeedOptions options) { return scaled("lecun_normal", options, {}); }
Initializer variance_scaling(VarianceScalingOptions options) { return scaled("variance_scaling", options, options); }

Initializer random_uniform(RandomUniformOptions options) {
  require::finite("random_uniform", "low", options.low);
  require::finite("random_uniform", "high", options.high);
  if (!(options.low < options.high)) {
    throw ArgumentError(fmt::format("random_uniform: low is {} and high {}; expected low < high.", options.low, options.high));
  }
  return seeded("random_uniform", options, [options](const Shape& shape, Dtype dtype) {
    return random::uniform(shape, {.low = options.low, .high = options.high, .dtype = dtype});
  });
}
Initializer random_normal(RandomNormalOptions options) {
  require_normal("random_normal", options);
  return seeded("random_normal", options, [options](const Shape& shape, Dtype dtype) {
    return random::normal(shape, {.mean = options.mean, .deviation = options.deviation, .dtype = dtype});
  });
}
Initializer truncated_normal(RandomNormalOptions options) {
  require_normal("truncated_normal", options);
  return seeded("truncated_normal", options, [options](const Shape& shape, Dtype dtype) {
    return random::truncated_normal(shape, {.mean = options.mean, .deviation = options.deviation, .dtype = dtype});
  });
}

Initializer orthogonal(OrthogonalOptions options) {
  require::finite("orthogonal", "gain", options.gain);
  return seeded("orthogonal", options,
                [gain = options.gain](const Shape& shape, Dtype dtype) { return nn::orthogonal_matrix(shape, dtype, gain); });
}

}  // namespace anyshape

// Initializers: constants, uniform and normal numbers scaled by the fans, orthogonal matrices.
#include "base/near_names.h"
#include "nn/orthogonal.h"

#include "tensor/half.h"

#include <anyshape/error.h>
#include <anyshape/initializer.h>
#include <anyshape/ops.h>
#include <anyshape/random.h>
#include <anyshape/spec.h>

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <vector>

namespace anyshape {
namespace {

using Draw = std::function<Tensor(const Shape&, Dtype)>;

// What is left of a normal distribution cut at two deviations has this deviation.
constexpr double deviation_after_cut = 0.87962566103423978;

Initializer seeded(std::string name, std::optional<int64_t> seed, Draw draw) {
  if (!seed) return {std::move(draw), std::move(name)};
  return {[seed, draw = std::move(draw)](const Shape& shape, Dtype dtype) {
            const random::SeedScope scope(static_cast<uint64_t>(*seed));
            return draw(shape, dtype);
          },
          std::move(name)};
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

Initializer scaled(std::string name, VarianceScalingOptions options) {
  if (!(options.scale > 0)) throw ArgumentError(fmt::format("{}: scale is {}; expected a positive number.", name, options.scale));
  return seeded(std::move(name), options.seed, [options](const Shape& shape, Dtype dtype) {
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

const std::map<std::string, Initializer (*)()>& named() {
  static const std::map<std::string, Initializer (*)()> table = {
      {"zeros", [] { return constant(0); }},
      {"ones", [] { return constant(1); }},
      {"constant", [] { return constant(0); }},
      {"identity", [] { return identity_matrix(); }},
      {"glorot_uniform", [] { return glorot_uniform(); }},
      {"glorot_normal", [] { return glorot_normal(); }},
      {"he_uniform", [] { return he_uniform(); }},
      {"he_normal", [] { return he_normal(); }},
      {"lecun_uniform", [] { return lecun_uniform(); }},
      {"lecun_normal", [] { return lecun_normal(); }},
      {"random_uniform", [] { return random_uniform(); }},
      {"uniform", [] { return random_uniform(); }},
      {"random_normal", [] { return random_normal(); }},
      {"normal", [] { return random_normal(); }},
      {"truncated_normal", [] { return truncated_normal(); }},
      {"orthogonal", [] { return orthogonal(); }},
      {"variance_scaling", [] { return variance_scaling(); }},
  };
  return table;
}

}  // namespace

Initializer::Initializer(std::function<Tensor(const Shape&, Dtype)> callable, std::string name)
    : callable_(std::move(callable)), name_(std::move(name)) {}

Initializer::Initializer(const std::string& name) {
  const auto found = named().find(name);
  if (found == named().end()) {
    std::vector<std::string> names;
    for (const auto& each : named()) names.push_back(each.first);
    throw ArgumentError("initializer: " + unknown_name("initializer", name, names));
  }
  *this = found->second();
}

Initializer::Initializer(const char* name) : Initializer(std::string(name)) {}

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
  return {[value](const Shape& shape, Dtype dtype) { return full(shape, cast(Tensor(value), dtype)); }, "constant"};
}
Initializer identity_matrix(double gain) {
  return {[gain](const Shape& shape, Dtype dtype) {
            if (shape.rank() != 2) throw ShapeError(fmt::format("identity_matrix: the weight is {}; expected a matrix.", to_string(shape)));
            return cast(eye(shape[0], {.columns = shape[1]}), dtype) * gain;
          },
          "identity"};
}

Initializer glorot_uniform(SeedOptions options) {
  return scaled("glorot_uniform", {.mode = Fan::Average, .distribution = Distribution::Uniform, .seed = options.seed});
}
Initializer glorot_normal(SeedOptions options) { return scaled("glorot_normal", {.mode = Fan::Average, .seed = options.seed}); }
Initializer he_uniform(SeedOptions options) {
  return scaled("he_uniform", {.scale = 2, .distribution = Distribution::Uniform, .seed = options.seed});
}
Initializer he_normal(SeedOptions options) { return scaled("he_normal", {.scale = 2, .seed = options.seed}); }
Initializer lecun_uniform(SeedOptions options) {
  return scaled("lecun_uniform", {.distribution = Distribution::Uniform, .seed = options.seed});
}
Initializer lecun_normal(SeedOptions options) { return scaled("lecun_normal", {.seed = options.seed}); }
Initializer variance_scaling(VarianceScalingOptions options) { return scaled("variance_scaling", options); }

Initializer random_uniform(RandomUniformOptions options) {
  return seeded("random_uniform", options.seed, [options](const Shape& shape, Dtype dtype) {
    return random::uniform(shape, {.low = options.low, .high = options.high, .dtype = dtype});
  });
}
Initializer random_normal(RandomNormalOptions options) {
  return seeded("random_normal", options.seed, [options](const Shape& shape, Dtype dtype) {
    return random::normal(shape, {.mean = options.mean, .deviation = options.deviation, .dtype = dtype});
  });
}
Initializer truncated_normal(RandomNormalOptions options) {
  return seeded("truncated_normal", options.seed, [options](const Shape& shape, Dtype dtype) {
    return random::truncated_normal(shape, {.mean = options.mean, .deviation = options.deviation, .dtype = dtype});
  });
}

Initializer orthogonal(OrthogonalOptions options) {
  return seeded("orthogonal", options.seed,
                [gain = options.gain](const Shape& shape, Dtype dtype) { return nn::orthogonal_matrix(shape, dtype, gain); });
}

}  // namespace anyshape

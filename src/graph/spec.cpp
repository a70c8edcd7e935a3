// Tensor specs: making and printing them.
#include <anyshape/spec.h>

#include <ostream>

namespace anyshape {

TensorSpec spec(Dtype dtype, Shape shape, std::string name) { return {dtype, std::move(shape), std::move(name)}; }

std::string to_string(const TensorSpec& spec) { return std::string(to_string(spec.dtype)) + to_string(spec.shape); }

std::ostream& operator<<(std::ostream& out, const TensorSpec& spec) {
  return out << (spec.name.empty() ? "" : spec.name + ": ") << to_string(spec);
}

}  // namespace anyshape

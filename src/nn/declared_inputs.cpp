// Declared sizes against given ones, axis by axis.
#include "nn/declared_inputs.h"

#include "nn/describe_call.h"
#include "nn/notes.h"
#include "ops/contraction/contract.h"
#include "shape/dim_node.h"
#include "shape/prove.h"
#include "shape/substitute.h"
#include "tensor/partition.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::nn {
namespace {

enum class Kind { Floating, Integer, Boolean };

Kind kind_of(Dtype dtype) {
  if (is_floating(dtype)) return Kind::Floating;
  return dtype == Dtype::b8 ? Kind::Boolean : Kind::Integer;
}

class Holder {
 public:
  Holder(const std::string& model, std::span<const TensorSpec> declared, std::span<const Tensor> given)
      : model_(model), declared_(declared), given_(given.begin(), given.end()) {}

  std::vector<Tensor> run() {
    for (size_t input = 0; input < given_.size(); ++input) {
      given_[input] = with_declared_rank(input);
      require_kind(input);
    }
    for (size_t input = 0; input < given_.size(); ++input) note_sizes(input);
    for (size_t input = 0; input < given_.size(); ++input) given_[input] = with_declared_sizes(input);
    return std::move(given_);
  }

 private:
  std::string name_of(size_t input) const {
    return declared_[input].name.empty() ? fmt::format("input {}", input) : fmt::format("input \"{}\"", declared_[input].name);
  }
  std::string sides(size_t input) const {
    return fmt::format("model \"{}\": {} is {}; expected {}", model_, name_of(input), describe(given_[input]), to_string(declared_[input]));
  }

  Tensor with_declared_rank(size_t input) const {
    const Shape& declared = declared_[input].shape;
    const Tensor& given = given_[input];
    if (given.rank() == declared.rank()) return given;
    const bool is_column = given.rank() + 1 == declared.rank() && declared[-1].is_constant() && declared[-1].value() == 1;
    if (!is_column || given.is_ragged()) throw ShapeError(sides(input) + ", as declared by as::input().");
    return expand_dims(given, -1);
  }

  void require_kind(size_t input) const {
    if (kind_of(given_[input].dtype()) == kind_of(declared_[input].dtype)) return;
    const Dtype dtype = declared_[input].dtype;
    throw DtypeError(fmt::format("{}, as declared by as::input(). Cast it with as::cast(x, as::{}), or declare .dtype = as::{}.",
                                 sides(input), to_string(dtype), to_string(given_[input].dtype())));
  }

  // as::dynamic: of any size, in every input.
  static bool is_open(const Shape& declared, int axis) {
    return axis == 0 || declared[axis].is_ragged() || is_open_size(declared[axis], axis);
  }

  void note_sizes(size_t input) {
    const Shape &declared = declared_[input].shape, given = given_[input].shape();
    for (int axis = 1; axis < declared.rank(); ++axis) {
      const Symbol* const symbol = as_symbol(declared[axis]);
      if (symbol != nullptr && !is_open(declared, axis) && !given[axis].is_ragged()) known_.emplace(symbol->id, given[axis]);
    }
  }

  Tensor with_declared_sizes(size_t input) const {
    const Shape &declared = declared_[input].shape, given = given_[input].shape();
    Shape wanted = given;
    for (int axis = 1; axis < declared.rank(); ++axis) {
      if (is_open(declared, axis)) continue;
      const Dim size = substitute(declared[axis], known_);
      if (given[axis].is_ragged()) {
        if (size.is_constant()) throw ShapeError(sides(input) + ", as declared by as::input().");
        continue;
      }
      if (proves_equal(given[axis], size) == false) throw ShapeError(sides(input) + ", as declared by as::input().");
      wanted[axis] = size;
    }
    return given.same_as(wanted) ? given_[input] : checked(input, wanted);
  }

  // Sizes of the trace in progress: from here on they are what was declared.
  Tensor checked(size_t input, const Shape& wanted) const {
    const Tensor& given = given_[input];
    const std::string name = fmt::format("{} of model \"{}\", declared as {},", name_of(input), model_, to_string(declared_[input]));
    const std::vector<std::string> names(static_cast<size_t>(wanted.rank()), name);
    const RaggedTensor* const ragged = as_ragged(given);
    if (ragged == nullptr) {
      const Tensor held = with_sizes(given, wanted, names), mask = mask_of(given);
      return mask.defined() ? with_mask(held, mask) : held;
    }
    Shape values{ragged->values.shape()[0]};
    for (int axis = 2; axis < wanted.rank(); ++axis) values.push_back(wanted[axis]);
    return make_ragged(with_sizes(ragged->values, values, std::span(names).subspan(1)), ragged->partition);
  }

  const std::string& model_;
  std::span<const TensorSpec> declared_;
  std::vector<Tensor> given_;
  Substitution known_;
};

}  // namespace

std::vector<Tensor> held_inputs(const std::string& model, std::span<const TensorSpec> declared, std::span<const Tensor> given) {
  return Holder(model, declared, given).run();
}

}  // namespace anyshape::nn

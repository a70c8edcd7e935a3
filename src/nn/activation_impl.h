// What an activation is: a callable with a name, how it was made, and what its result is for the losses after it.
#pragma once
#include "nn/notes.h"

#include <anyshape/activation.h>
#include <anyshape/registry.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace anyshape {

struct detail::ActivationImpl {
  std::function<Tensor(const Tensor&)> callable;
  std::string name = "custom";
  std::shared_ptr<const Made> made = nullptr;
  bool is_own = false;                            // of the user's: it may branch
  std::optional<nn::Probability> result_is = {};  // of its argument, which then are logits
};

}  // namespace anyshape

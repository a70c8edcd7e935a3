// Evaluations lent to passes.
#include "model/evaluations.h"

#include "model/model_state.h"

#include <new>
#include <utility>

namespace anyshape::model {

Evaluations::Evaluations(const Compiled& compiled, Shapes shapes) : compiled_(compiled.with_own_metrics()), shapes_(shapes) {}

std::unique_ptr<Evaluation> Evaluations::take() {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Evaluation> idle = std::move(idle_.back());
      idle_.pop_back();
      return idle;
    }
  }
  const Compiled own = compiled_.with_own_metrics();
  const auto parts = std::make_shared<PartsReport>();
  return std::make_unique<Evaluation>(Evaluation{own, parts, make_evaluate_step(own, parts, shapes_)});
}

void Evaluations::give_back(std::unique_ptr<Evaluation> idle) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(idle));
  } catch (const std::bad_alloc&) {  // the next pass makes another
  }
}

}  // namespace anyshape::model

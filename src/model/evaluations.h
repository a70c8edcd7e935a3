// What a pass of evaluate has to itself: a step with metrics and parts of the loss of its own, so that passes of several threads, and those of
// callbacks inside a fit, do not add to each other's sums.
#pragma once
#include "base/fork_mutex.h"
#include "model/compiled.h"
#include "model/loss_parts.h"

#include <anyshape/model.h>

#include <memory>
#include <vector>

namespace anyshape::model {

struct Evaluation {
  using Step = Function<Tensor(AnyLayer, Batch)>;
  Compiled compiled;  // with metrics of its own
  std::shared_ptr<PartsReport> parts;
  Step step;
};

// The evaluations of a compiled model. A new one is traced anew, so one that is idle is taken first: there are as many as there were passes at
// the same time.
class Evaluations {
 public:
  Evaluations(const Compiled& compiled, Shapes shapes);

  // While it lives its evaluation is nobody else's.
  class Pass {
   public:
    explicit Pass(std::shared_ptr<Evaluations> all) : all_(std::move(all)), own_(all_->take()) {}
    ~Pass() { all_->give_back(std::move(own_)); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    const Evaluation& operator*() const { return *own_; }

   private:
    std::shared_ptr<Evaluations> all_;
    std::unique_ptr<Evaluation> own_;
  };

 private:
  std::unique_ptr<Evaluation> take();
  void give_back(std::unique_ptr<Evaluation> idle) noexcept;

  const Compiled compiled_;  // with metrics that nobody updates: a pass copies them while a fit may be at work on the model's
  const Shapes shapes_;
  ForkMutex mutex_;
  std::vector<std::unique_ptr<Evaluation>> idle_;
};

}  // namespace anyshape::model

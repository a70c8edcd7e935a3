// An optimizer behind its handle: what every update rule has in common.
#pragma once
#include "base/fork_mutex.h"

#include <anyshape/optimizer.h>
#include <anyshape/stateful.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace anyshape {

using detail::OptimizerImpl;

class detail::OptimizerImpl final : public Identity {
 public:
  OptimizerImpl(std::string name, OptimizerOptions options, UpdateRule rule);

  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables);
  void build(const std::vector<Variable>& variables);
  // Likewise; a slot is named by what `name_of` says of its variable, instead of the variable's own name.
  void build(const std::vector<Variable>& variables, const std::function<std::string(const Variable&)>& name_of);
  std::vector<Variable> variables() const;
  // Values, by the slots' names, that slots begin with which are not made yet: of a training that goes on.
  void expect_slots(std::map<std::string, Tensor> values);
  std::shared_ptr<OptimizerImpl> clone() const;

  const std::string& name() const { return name_; }
  const std::shared_ptr<const detail::Made>& made() const { return made_; }
  void set_made(std::shared_ptr<const detail::Made> made) { made_ = std::move(made); }
  std::string title() const override { return name_; }
  const Variable& iterations() const { return iterations_; }
  Tensor rate() const;  // at the next update, f32
  void set_rate(double rate);

 private:
  void require_fit(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) const;
  const std::vector<Variable>& slots_of(const Variable& variable,
                                        const std::function<std::string(const Variable&)>& name_of = &Variable::name);
  std::vector<Tensor> clipped(std::vector<Tensor> gradients) const;

  std::string name_;
  OptimizerOptions options_;
  UpdateRule rule_;
  std::shared_ptr<const detail::Made> made_;
  Variable iterations_;
  Variable rate_;  // where no schedule decides: an input of the step, so another rate is no new trace
  mutable ForkMutex mutex_;
  std::unordered_map<uint64_t, std::vector<Variable>> slots_;
  std::vector<uint64_t> order_;
  std::map<std::string, Tensor> expected_;
};

}  // namespace anyshape

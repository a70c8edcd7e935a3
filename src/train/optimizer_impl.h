// An optimizer behind its handle: what every update rule has in common. A rule is one function on tensors.
#pragma once
#include <anyshape/optimizer.h>
#include <anyshape/stateful.h>

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace anyshape {

struct OptimizerSettings {
  std::string name;
  Schedule learning_rate = 0.001;
  double weight_decay = 0;
  double clipnorm = 0;
  double clipvalue = 0;
  double global_clipnorm = 0;
};

// What a rule sees of one variable in one step.
struct Update {
  Tensor gradient;
  Tensor rate;                 // of learning, as the rule corrected it
  std::vector<Tensor>& slots;  // to be replaced by their new values
};

struct UpdateRule {
  struct Slot {
    std::string name;
    double start = 0;
  };
  std::vector<Slot> slots = {};
  // The rate that a step (counted from 1) works with, where it is not the learning rate: once per step, whatever the number of variables.
  std::function<Tensor(const Tensor& rate, const Tensor& step)> corrected_rate = {};
  std::function<Tensor(const Update& update)> amount;  // to subtract from the variable
};

class OptimizerImpl final : public Identity {
 public:
  OptimizerImpl(OptimizerSettings settings, UpdateRule rule);

  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables);
  void build(const std::vector<Variable>& variables);
  std::vector<Variable> variables() const;
  std::shared_ptr<OptimizerImpl> clone() const;

  const OptimizerSettings& settings() const { return settings_; }
  const Variable& iterations() const { return iterations_; }
  Tensor rate() const;  // at the next update, f32
  void set_rate(double rate);

 private:
  void require_fit(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables) const;
  const std::vector<Variable>& slots_of(const Variable& variable);
  std::vector<Tensor> clipped(std::vector<Tensor> gradients) const;

  OptimizerSettings settings_;
  UpdateRule rule_;
  Variable iterations_;
  Variable rate_;  // where no schedule decides: an input of the step, so another rate is no new trace
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<Variable>> slots_;
  std::vector<uint64_t> order_;
};

}  // namespace anyshape

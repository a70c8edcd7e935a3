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

// What an update rule sees of one variable in one step.
struct Update {
  Tensor gradient;
  Tensor rate;                 // of learning
  Tensor step;                 // counts from 1, in the variable's dtype
  std::vector<Tensor>& slots;  // to be replaced by their new values
};
// The amount to subtract from the variable.
using UpdateRule = std::function<Tensor(const Update& update)>;

class OptimizerImpl final : public Identity {
 public:
  // `slots` start values, one per slot: zeros but for Adagrad's.
  OptimizerImpl(OptimizerSettings settings, std::vector<double> slots, UpdateRule rule);

  void apply(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables);
  void build(const std::vector<Variable>& variables);
  std::vector<Variable> variables() const;
  std::shared_ptr<OptimizerImpl> clone() const;

  const OptimizerSettings& settings() const { return settings_; }
  const Variable& iterations() const { return iterations_; }
  Tensor rate() const;  // at the next update, f32
  void set_rate(double rate);

 private:
  const std::vector<Variable>& slots_of(const Variable& variable);
  std::vector<Tensor> clipped(std::vector<Tensor> gradients) const;

  OptimizerSettings settings_;
  std::vector<double> starts_;
  UpdateRule rule_;
  Variable iterations_;
  Variable rate_;  // where no schedule decides: an input of the step, so another rate is no new trace
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<Variable>> slots_;
  std::vector<uint64_t> order_;
};

}  // namespace anyshape

// Gradients: record what is computed, then ask for derivatives. Works eagerly, inside traced functions, and twice.
#pragma once
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

struct TapeOptions {
  bool persistent = false;  // gradient() may be called more than once
};

// Records the ops of this thread while it lives, as far as they depend on trainable variables read and tensors watched under it.
class GradientTape {
 public:
  explicit GradientTape(TapeOptions options = {});
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  void watch(const Tensor& tensor);
  // d sum(target) / d source, one per source. A source that the target does not depend on is an ArgumentError naming it.
  std::vector<Tensor> gradient(const Tensor& target, const std::vector<Variable>& sources);
  std::vector<Tensor> gradient(const Tensor& target, std::initializer_list<Variable> sources);
  std::vector<Tensor> gradient(const Tensor& target, const std::vector<Tensor>& sources);
  Tensor gradient(const Tensor& target, const Variable& source);
  Tensor gradient(const Tensor& target, const Tensor& source);

 private:
  class Recorder;
  std::unique_ptr<Recorder> recorder_;
};

// The value of `body` and its gradients with respect to the variables: GradientTape in one call.
std::pair<Tensor, std::vector<Tensor>> value_and_gradients(const std::function<Tensor()>& body, const std::vector<Variable>& variables);

}  // namespace anyshape
#pragma GCC visibility pop

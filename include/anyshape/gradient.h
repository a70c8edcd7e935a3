// Gradients: record what is computed, then ask for derivatives. Works eagerly, inside traced functions, and twice.
#pragma once
#include <anyshape/spec.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// What a tape watches by itself, and whether gradient() may be called again.
struct TapeOptions {
  bool persistent = false;      ///< gradient() may be called more than once
  bool watch_variables = true;  ///< a trainable variable is watched as soon as it is read; without it, only what watch() names
};

/// What becomes of a source that no target depends on; Undefined: an empty handle, also for one that targets depend on through ops alone whose gradient
/// is 0 everywhere, as round() and sign().
enum class Unreached : uint8_t { Error, Zeros, Undefined };

/// What the gradients of the targets are multiplied by, and what becomes of a source that no target depends on.
struct GradientOptions {
  std::vector<Tensor> output_gradients = {};  ///< one per target, of its dtype and shape: d target is multiplied by it; none: ones
  Unreached unreached = Unreached::Error;     ///< an ArgumentError that names the source
};

/// A variable as a tape met it.
struct WatchedVariable {
  uint64_t id = 0;
  TensorSpec spec = {};  ///< with the variable's name
};

/// Records the ops of this thread while it lives, as far as they depend on trainable variables read and tensors watched under it.
class GradientTape {
 public:
  explicit GradientTape(TapeOptions options = {});
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  void watch(const Tensor& tensor);      ///< of a floating dtype
  void watch(const Variable& variable);  ///< what it gives when it is read from here on, trainable or not

  using Tensors = std::vector<Tensor>;
  using Variables = std::vector<Variable>;
  /// d sum(target * output gradient) / d source, one per source.
  ///@{
  Tensor gradient(const Tensor& target, const Tensor& source, const GradientOptions& options = {});
  Tensor gradient(const Tensor& target, const Variable& source, const GradientOptions& options = {});
  Tensors gradient(const Tensor& target, const Tensors& sources, const GradientOptions& options = {});
  Tensors gradient(const Tensor& target, const Variables& sources, const GradientOptions& options = {});
  Tensors gradient(const Tensor& target, std::initializer_list<Tensor> sources, const GradientOptions& options = {});
  Tensors gradient(const Tensor& target, std::initializer_list<Variable> sources, const GradientOptions& options = {});
  ///@}
  /// Of several targets together: the sum over them.
  ///@{
  Tensors gradient(const Tensors& targets, const Tensors& sources, const GradientOptions& options = {});
  Tensors gradient(const Tensors& targets, const Variables& sources, const GradientOptions& options = {});
  ///@}

  std::vector<WatchedVariable> watched_variables() const;  ///< that were read under it, in that order

  class Pause;
  /// While what it returns lives, the tape records nothing: for metrics and other work beside the target.
  [[nodiscard]] Pause pause();

 private:
  class Recorder;
  std::shared_ptr<Recorder> recorder_;
};

/// What pause() returns; of several at a time the last to end lets the tape record again.
class GradientTape::Pause {
 public:
  ~Pause();  ///< ends the pause
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  friend class GradientTape;
  explicit Pause(std::shared_ptr<Recorder> recorder);
  std::shared_ptr<Recorder> recorder_;
};

/// The value of `body` and its gradients with respect to the variables, trainable or not: GradientTape in one call.
std::pair<Tensor, std::vector<Tensor>> value_and_gradients(const std::function<Tensor()>& body, const std::vector<Variable>& variables,
                                                           const GradientOptions& options = {});

}  // namespace anyshape
#pragma GCC visibility pop

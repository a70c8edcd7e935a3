// What recurrent layers share: the walk over the steps of every row, whatever a step does.
#pragma once
#include <anyshape/layers/sequence.h>

#include <span>
#include <utility>
#include <vector>

namespace anyshape::nn {

// Layers that give their states, too, where that is asked for. Inputs: x [batch, time, features], then all initial states or none.
class Recurrent : public Layer {
 public:
  std::vector<Tensor> call_all(std::span<const Tensor> inputs, const CallContext& context) final;
  std::vector<std::string> output_names() const final;

 protected:
  using Layer::Layer;
  virtual Recurrence run(std::span<const Tensor> inputs, const CallContext& context) = 0;
  virtual bool returns_state() const = 0;  // in every call
  virtual size_t state_count() const = 0;
};

// How steps are walked and what is given of them.
struct Walk {
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  bool in_time_order = false;  // a sequence stands as its input does; else, as in Keras, in the order in which it was made

  bool reverses() const { return go_backwards && !in_time_order; }
};

template <class Options>
Walk walk_of(const Options& options) {
  return {.return_sequences = options.return_sequences,
          .return_state = options.return_state,
          .go_backwards = options.go_backwards,
          .zero_output_for_mask = options.zero_output_for_mask};
}

// A layer that is one step, walked. What a step needs of its input alone is done in project(), for all steps in one product.
class SteppedLayer : public Recurrent {
 public:
  using Step = std::pair<Tensor, std::vector<Tensor>>;  // the output and the next states

  void build(const Shape& input) final;
  Tensor mask(std::span<const Tensor> inputs, std::span<const Tensor> masks) const final;
  size_t state_count() const final { return state_sizes().size(); }

  Walk walk;

 protected:
  SteppedLayer(std::string type, Walk how) : Recurrent(std::move(type)), walk(how) {}

  Recurrence run(std::span<const Tensor> inputs, const CallContext& context) final;
  bool returns_state() const final { return walk.return_state; }
  virtual void make_weights(const Shape& input) = 0;
  virtual std::vector<int64_t> state_sizes() const = 0;
  virtual Tensor project(const Tensor& x) { return x; }  // [..., features] -> [..., what a step is given]
  // `kept` is what recurrent dropout multiplies a row's first state by, [rows, size]; undefined where nothing is dropped.
  virtual Step step(const Tensor& x, const std::vector<Tensor>& states, const Tensor& kept, const CallContext& context) = 0;
  virtual int64_t output_size() const { return state_sizes().front(); }
  virtual bool outputs_first_state() const { return true; }  // the output is the first state, so that none has to be carried beside it
  virtual double dropout() const { return 0; }
  virtual double recurrent_dropout() const { return 0; }

 private:
  struct Loop;
  std::vector<Tensor> initial_states(std::span<const Tensor> inputs) const;
  void require_step(const Tensor& output, const std::vector<Tensor>& states) const;
  std::vector<Tensor> one_step(const Loop& loop, const Tensor& kept, std::span<const Tensor> carried, std::span<const Tensor> slices);
  // What is carried, as it is at the end, then the sequence in the order of time.
  std::vector<Tensor> walk_dense(const Loop& loop, const Tensor& x, const Tensor& is_real, const std::vector<Tensor>& carried);
  std::vector<Tensor> walk_packed(const Loop& loop, const Tensor& x, const Tensor& is_real, const std::vector<Tensor>& carried);
};

}  // namespace anyshape::nn

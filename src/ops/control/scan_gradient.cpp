// The gradient of a scan is a scan the other way round: each step is computed again from what it was given and what was saved, and pulled
// back. What only adds up over the steps, such as the gradient of a weight, is computed after the loop, for all steps at once.
#include "graph/bind.h"
#include "graph/trace_scope.h"
#include "ops/all_ops.h"
#include "ops/control/replay.h"
#include "ops/control/scan.h"
#include "ops/control/stacked_steps.h"

#include <anyshape/control.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

// Which inputs and outputs take part, and where they stand.
struct Parts {
  explicit Parts(const GradientCall& call)
      : attrs(call.attrs.as<ScanAttrs>()),
        carried(static_cast<size_t>(attrs.carried)),
        sequences(static_cast<size_t>(attrs.sequences)),
        inputs(call.inputs.size() - (attrs.is_packed() ? 1 : 0)) {
    for (size_t i = 0; i < carried; ++i) {
      if (is_floating(call.inputs[i].dtype())) flowing.push_back(i);
    }
    // What was saved is an output like the others: of it flows the second derivative.
    for (size_t i = carried; i < call.outputs.size(); ++i) {
      if (call.reached[i] && is_floating(call.outputs[i].dtype())) reached.push_back(i);
    }
    for (size_t i = carried; i < inputs; ++i) {
      if (call.needed[i]) (i < carried + sequences ? needed_sequences : needed_captures).push_back(i);
    }
  }
  bool input_by_rows(size_t input) const { return attrs.goes_by_rows(attrs.body->inputs()[input]->spec); }
  bool output_by_rows(size_t output) const { return attrs.goes_by_rows(attrs.body->outputs[output]->spec); }

  const ScanAttrs& attrs;
  size_t carried, sequences;
  size_t inputs;                         // of the body
  std::vector<size_t> flowing;           // carried values that are floating
  std::vector<size_t> reached;           // stacked outputs with a gradient
  std::vector<size_t> needed_sequences;  // inputs
  std::vector<size_t> needed_captures;
};

Tensor or_zeros(const Tensor& gradient, const Tensor& like) { return gradient.defined() ? gradient : zeros_like(like); }

// The scan backwards. Its sequences: everything saved, the sequences, the gradients of stacked outputs.
class Backwards {
 public:
  explicit Backwards(const GradientCall& call) : call_(call), parts_(call) {
    std::vector<bool> carried_by_rows;
    for (const size_t i : parts_.flowing) {
      carried_.push_back(call.dys[i]);
      carried_by_rows.push_back(parts_.input_by_rows(i));
    }
    for (const size_t i : parts_.needed_captures) carried_.push_back(zeros_like(call.inputs[i]));
    carried_by_rows.resize(carried_.size());
    plan_ = {.length = parts_.attrs.length,
             .reverse = !parts_.attrs.reverse,
             .active = parts_.attrs.active,
             .rows = parts_.attrs.rows,
             .total = parts_.attrs.total,
             .by_rows = std::move(carried_by_rows)};
    if (parts_.attrs.is_packed()) plan_.counts = call.inputs.back();
    first_saved_ = call.outputs.size() - static_cast<size_t>(parts_.attrs.saved);
    for (size_t i = first_saved_; i < call.outputs.size(); ++i) add_sequence(call.outputs[i], parts_.output_by_rows(i));
    for (size_t i = parts_.carried; i < parts_.carried + parts_.sequences; ++i) add_sequence(call.inputs[i], parts_.input_by_rows(i));
    for (const size_t i : parts_.reached) add_sequence(call.dys[i], parts_.output_by_rows(i));
  }

  // Whether there is a gradient of this input; run() gives those that there are.
  static bool gives(const GradientCall& call, size_t input) {
    const bool is_carried = input < static_cast<size_t>(call.attrs.as<ScanAttrs>().carried);
    return is_carried ? is_floating(call.inputs[input].dtype()) : call.needed[input];
  }

  std::vector<Tensor> run() {
    const auto step = [&](std::span<const Tensor> carry, std::span<const Tensor> slices) -> FunctionResults {
      return {pull_back(carry, slices)};
    };
    std::vector<Tensor> found = trace_scan(step, carried_, sequences_, plan_).tensors;
    std::vector<Tensor> gradients(call_.inputs.size());
    size_t next = 0;
    for (const size_t i : parts_.flowing) gradients[i] = found[next++];
    for (const size_t i : parts_.needed_captures) gradients[i] = found[next++];
    for (const size_t i : parts_.needed_sequences) gradients[i] = found[next++];
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(next));
    late_.add_to(gradients, call_.inputs, sequences_, found);
    std::erase_if(gradients, [](const Tensor& gradient) { return !gradient.defined(); });
    return gradients;
  }

 private:
  void add_sequence(const Tensor& whole, bool by_rows) {
    sequences_.push_back(whole);
    plan_.by_rows.push_back(by_rows);
  }

  std::vector<Tensor> pull_back(std::span<const Tensor> carry, std::span<const Tensor> slices) {
    const graph::Graph& body = *parts_.attrs.body;
    const auto saved = static_cast<size_t>(parts_.attrs.saved);
    Replay::Known known;
    for (size_t k = parts_.carried; k < saved; ++k) known[body.outputs[first_saved_ + k]] = slices[k];
    std::vector<Tensor> inputs(slices.begin(), slices.begin() + static_cast<std::ptrdiff_t>(parts_.carried));
    for (size_t i = 0; i < parts_.sequences; ++i) inputs.push_back(slices[saved + i]);
    for (size_t i = inputs.size(); i < parts_.inputs; ++i) inputs.push_back(call_.inputs[i]);
    std::vector<Tensor> dys(call_.outputs.size());
    for (size_t k = 0; k < parts_.flowing.size(); ++k) dys[parts_.flowing[k]] = carry[k];
    for (size_t k = 0; k < parts_.reached.size(); ++k) dys[parts_.reached[k]] = slices[saved + parts_.sequences + k];
    Flags needed(parts_.inputs);
    for (const std::vector<size_t>* each : {&parts_.flowing, &parts_.needed_sequences, &parts_.needed_captures}) {
      for (const size_t i : *each) needed[i] = true;
    }
    late_ = LateGradients(parts_.attrs, slices);
    const std::vector<Tensor> gradients =
        Replay(body, inputs, known)
            .pull_back(dys, needed.span(), [&](const graph::Node& node, const GradientCall& call, std::span<bool> wanted) {
              late_.take_over(node, call, wanted);
            });
    std::vector<Tensor> results;
    for (const size_t i : parts_.flowing) results.push_back(or_zeros(gradients[i], inputs[i]));
    for (size_t k = 0; k < parts_.needed_captures.size(); ++k) {
      const Tensor& sum = carry[parts_.flowing.size() + k];
      const Tensor& more = gradients[parts_.needed_captures[k]];
      results.push_back(more.defined() ? sum + more : sum);
    }
    for (const size_t i : parts_.needed_sequences) results.push_back(or_zeros(gradients[i], inputs[i]));
    results.insert(results.end(), late_.stacked().begin(), late_.stacked().end());
    return results;
  }

  const GradientCall& call_;
  Parts parts_;
  ScanPlan plan_;
  std::vector<Tensor> carried_, sequences_;
  size_t first_saved_ = 0;  // among the outputs
  LateGradients late_;
};

// Where nothing was saved, for nobody had asked for gradients then: once more, saving.
std::vector<Tensor> backwards_saving(const GradientCall& call) {
  const Attrs saving = saving_scan(call.attrs);
  const std::vector<Tensor> outputs = bind_all(scan_op, call.inputs, saving);
  std::vector<Tensor> dys(call.dys.begin(), call.dys.end());
  Flags reached(outputs.size());
  for (size_t i = 0; i < call.dys.size(); ++i) reached[i] = call.reached[i];
  for (size_t i = call.dys.size(); i < outputs.size(); ++i) dys.push_back(zeros_like(outputs[i]));
  const std::span<const bool> flags = std::as_const(reached).span();
  return Backwards({.inputs = call.inputs, .outputs = outputs, .dys = dys, .attrs = saving, .needed = call.needed, .reached = flags}).run();
}

}  // namespace

// One scope: where the trace repeats itself, for an `if` further on, nothing here runs again.
std::vector<Tensor> scan_gradient(const GradientCall& call) {
  const ScanAttrs& attrs = call.attrs.as<ScanAttrs>();
  FunctionResults found = run_scope([&]() -> FunctionResults {
    const bool is_saved = attrs.saved != 0 || attrs.carried == 0;
    return {is_saved ? Backwards(call).run() : backwards_saving(call)};
  });
  std::vector<Tensor> gradients(call.inputs.size());
  for (size_t i = 0, next = 0; i < gradients.size(); ++i) {
    if (Backwards::gives(call, i)) gradients[i] = found.tensors[next++];
  }
  return gradients;
}

}  // namespace anyshape

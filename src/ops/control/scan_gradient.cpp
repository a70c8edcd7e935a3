// The gradient of a scan is a scan the other way round: each step is computed again from what it was given, and pulled back.
#include "graph/bind.h"
#include "ops/all_ops.h"
#include "ops/control/replay.h"
#include "ops/control/scan.h"

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
    outputs = call.outputs.size() - carried - (attrs.saves ? carried : 0);
    for (size_t i = 0; i < carried; ++i) {
      if (is_floating(call.inputs[i].dtype())) flowing.push_back(i);
    }
    for (size_t i = 0; i < outputs; ++i) {
      if (call.reached[carried + i]) reached.push_back(carried + i);
    }
    for (size_t i = carried; i < inputs; ++i) {
      if (call.needed[i]) (i < carried + sequences ? needed_sequences : needed_captures).push_back(i);
    }
  }
  bool input_by_rows(size_t input) const { return attrs.goes_by_rows(attrs.body->inputs()[input]->spec); }
  bool output_by_rows(size_t output) const { return attrs.goes_by_rows(attrs.body->outputs[output]->spec); }

  const ScanAttrs& attrs;
  size_t carried, sequences;
  size_t inputs;  // of the body
  size_t outputs = 0;
  std::vector<size_t> flowing;           // carried values that are floating
  std::vector<size_t> reached;           // stacked outputs with a gradient
  std::vector<size_t> needed_sequences;  // inputs
  std::vector<size_t> needed_captures;
};

Tensor or_zeros(const Tensor& gradient, const Tensor& like) { return gradient.defined() ? gradient : zeros_like(like); }

}  // namespace

std::vector<Tensor> scan_gradient(const GradientCall& call) {
  const Parts parts(call);
  std::vector<Tensor> saved;
  if (parts.attrs.saves) {
    saved.assign(call.outputs.end() - static_cast<std::ptrdiff_t>(parts.carried), call.outputs.end());
  } else {
    const std::vector<Tensor> again = bind_all(scan_op, call.inputs, saving_scan(call.attrs));
    saved.assign(again.end() - static_cast<std::ptrdiff_t>(parts.carried), again.end());
  }
  // Carried backwards: the gradients of the carried values, and sums for what is captured. Rows and steps go as they went forwards.
  std::vector<Tensor> carried, sequences = saved;
  std::vector<bool> carried_by_rows, sequences_by_rows;
  for (const size_t i : parts.flowing) {
    carried.push_back(call.dys[i]);
    carried_by_rows.push_back(parts.input_by_rows(i));
  }
  for (const size_t i : parts.needed_captures) carried.push_back(zeros_like(call.inputs[i]));
  for (size_t i = 0; i < parts.carried + parts.sequences; ++i) {
    if (i >= parts.carried) sequences.push_back(call.inputs[i]);
    sequences_by_rows.push_back(parts.input_by_rows(i));
  }
  for (const size_t i : parts.reached) {
    sequences.push_back(call.dys[i]);
    sequences_by_rows.push_back(parts.output_by_rows(i));
  }
  const size_t first_saved = parts.carried + parts.outputs;
  std::vector<size_t> saved_reached;  // what was saved is an output, too: of it flows the second derivative
  for (size_t k = 0; k < parts.flowing.size(); ++k) {
    const size_t i = parts.flowing[k];
    if (!parts.attrs.saves || !call.reached[first_saved + i]) continue;
    saved_reached.push_back(k);
    sequences.push_back(call.dys[first_saved + i]);
    sequences_by_rows.push_back(parts.input_by_rows(i));
  }
  carried_by_rows.resize(carried.size());
  ScanPlan plan{.length = parts.attrs.length,
                .reverse = !parts.attrs.reverse,
                .active = parts.attrs.active,
                .rows = parts.attrs.rows,
                .total = parts.attrs.total,
                .by_rows = std::move(carried_by_rows)};
  if (parts.attrs.is_packed()) plan.counts = call.inputs.back();
  plan.by_rows.insert(plan.by_rows.end(), sequences_by_rows.begin(), sequences_by_rows.end());

  Flags needed(parts.inputs);
  for (const size_t i : parts.flowing) needed[i] = true;
  for (const size_t i : parts.needed_sequences) needed[i] = true;
  for (const size_t i : parts.needed_captures) needed[i] = true;
  const auto step = [&](std::span<const Tensor> carry, std::span<const Tensor> slices) -> FunctionResults {
    const size_t own = parts.carried + parts.sequences;
    std::vector<Tensor> inputs(slices.begin(), slices.begin() + static_cast<std::ptrdiff_t>(own));
    inputs.insert(inputs.end(), call.inputs.begin() + static_cast<std::ptrdiff_t>(own),
                  call.inputs.begin() + static_cast<std::ptrdiff_t>(parts.inputs));
    std::vector<Tensor> dys(parts.carried + parts.outputs);
    for (size_t k = 0; k < parts.flowing.size(); ++k) dys[parts.flowing[k]] = carry[k];
    for (size_t k = 0; k < parts.reached.size(); ++k) dys[parts.reached[k]] = slices[own + k];
    const std::vector<Tensor> gradients = Replay(*parts.attrs.body, inputs).pull_back(dys, needed.span());
    std::vector<Tensor> results;
    for (const size_t i : parts.flowing) results.push_back(or_zeros(gradients[i], inputs[i]));
    for (size_t k = 0; k < saved_reached.size(); ++k)
      results[saved_reached[k]] = results[saved_reached[k]] + slices[own + parts.reached.size() + k];
    for (size_t k = 0; k < parts.needed_captures.size(); ++k) {
      const Tensor& sum = carry[parts.flowing.size() + k];
      const Tensor& more = gradients[parts.needed_captures[k]];
      results.push_back(more.defined() ? sum + more : sum);
    }
    for (const size_t i : parts.needed_sequences) results.push_back(or_zeros(gradients[i], inputs[i]));
    return {std::move(results)};
  };
  const std::vector<Tensor> found = trace_scan(step, carried, sequences, plan).tensors;
  std::vector<Tensor> gradients(call.inputs.size());
  size_t next = 0;
  for (const size_t i : parts.flowing) gradients[i] = found[next++];
  for (const size_t i : parts.needed_captures) gradients[i] = found[next++];
  for (const size_t i : parts.needed_sequences) gradients[i] = found[next++];
  return gradients;
}

}  // namespace anyshape

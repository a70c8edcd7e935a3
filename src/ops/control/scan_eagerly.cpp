// A scan outside a trace is a loop that runs: the tapes see its steps.
#include "graph/packed_counts.h"
#include "ops/control/region_rules.h"
#include "ops/control/scan.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

Tensor rows_of(const Tensor& x, int64_t begin, int64_t end) { return slice(x, {{.begin = begin, .end = end}}); }

// One loop for both kinds: a dense step is an entry of a sequence without its axis, a packed one the next entries with it.
class EagerLoop {
 public:
  EagerLoop(const ScanBody& body, std::vector<Tensor> carried, const std::vector<Tensor>& sequences, const ScanPlan& plan)
      : body_(body), carried_(std::move(carried)), sequences_(sequences), plan_(plan), steps_(plan.length.value()) {
    if (steps_ < 0) throw ShapeError(fmt::format("scan: the length is {}; expected 0 or more.", steps_));
    if (is_packed()) {
      counts_ = plan.counts.to_vector<int64_t>();
      require_counts(counts_, plan.rows.value(), plan.total.value());
      for (size_t i = 0; i < carried_.size(); ++i) require_size("carry", i, carried_[i], plan.rows.value(), "rows");
    }
    const int64_t size = is_packed() ? plan.total.value() : steps_;
    for (size_t i = 0; i < sequences.size(); ++i) require_size("sequence", i, sequences[i], size, is_packed() ? "rows" : "steps");
  }

  FunctionResults run() {
    for (int64_t done = 0; done < steps_; ++done) run_step(plan_.reverse ? steps_ - 1 - done : done);
    std::vector<Tensor> results = carried_;
    if (steps_ == 0) add_empty(results);
    for (std::vector<Tensor>& each : stacked_) {
      if (plan_.reverse) std::ranges::reverse(each);
      results.push_back(is_packed() ? concat(each) : stack(each));
    }
    return {std::move(results), std::move(layout_)};
  }

 private:
  bool is_packed() const { return plan_.counts.defined(); }

  static void require_size(std::string_view what, size_t i, const Tensor& tensor, int64_t size, std::string_view unit) {
    if (tensor.shape()[0].value() == size) return;
    throw ShapeError(fmt::format("scan: {} {} is {}; expected {} {} along its first axis.", what, i, describe(tensor), size, unit));
  }

  void run_step(int64_t at) {
    const size_t count = carried_.size();
    const int64_t active = is_packed() ? counts_[static_cast<size_t>(at)] : 0;
    std::vector<Tensor> before, slices;
    for (const Tensor& each : carried_) before.push_back(is_packed() ? rows_of(each, 0, active) : each);
    for (const Tensor& sequence : sequences_) {
      const Tensor entries = is_packed() ? rows_of(sequence, first_, first_ + active) : rows_of(sequence, at, at + 1);
      slices.push_back(is_packed() ? entries : reshape(entries, step_shape(entries.shape())));
    }
    FunctionResults step = body_(before, slices);
    layout_ = std::move(step.layout);
    for (size_t i = 0; i < count; ++i) {
      Tensor next = step.tensors[i].impl()->weak ? cast(step.tensors[i], carried_[i].dtype()) : step.tensors[i];
      if (next.dtype() != before[i].dtype() || !(next.shape() == before[i].shape()))
        refuse_scan_carry(i, describe(before[i]), describe(next));
      carried_[i] = is_packed() ? concat({next, rows_of(carried_[i], active, plan_.rows.value())}) : std::move(next);
    }
    stacked_.resize(step.tensors.size() - count);
    for (size_t i = 0; i < stacked_.size(); ++i) stacked_[i].push_back(settled_number(step.tensors[count + i]));
    first_ += active;
  }

  // Nothing ran; what the body would have given says what there is none of.
  void add_empty(std::vector<Tensor>& results) {
    const size_t count = carried_.size();
    std::vector<TensorSpec> specs;
    for (const Tensor& each : carried_) specs.push_back({each.dtype(), seen(each, each.shape()), {}});
    for (const Tensor& each : sequences_) specs.push_back({each.dtype(), seen(each, step_shape(each.shape())), {}});
    const std::vector<TensorSpec> given = specs_of_results(
        [&](std::span<const Tensor> arguments) {
          FunctionResults step = body_(arguments.first(count), arguments.subspan(count));
          layout_ = std::move(step.layout);
          return std::move(step.tensors);
        },
        specs);
    for (size_t i = count; i < given.size(); ++i)
      results.push_back(zeros(is_packed() ? given[i].shape : stacked_shape(0, given[i].shape), {.dtype = given[i].dtype}));
  }
  Shape seen(const Tensor& whole, const Shape& dense) const { return is_packed() ? stacked_shape(0, step_shape(whole.shape())) : dense; }

  const ScanBody& body_;
  std::vector<Tensor> carried_;
  const std::vector<Tensor>& sequences_;
  const ScanPlan& plan_;
  int64_t steps_;
  std::vector<int64_t> counts_;
  int64_t first_ = 0;  // packed: where the step's entries begin
  std::vector<std::vector<Tensor>> stacked_;
  std::shared_ptr<const void> layout_;
};

}  // namespace

FunctionResults scan_eagerly(const ScanBody& body, std::vector<Tensor> carried, const std::vector<Tensor>& sequences,
                             const ScanPlan& plan) {
  return EagerLoop(body, std::move(carried), sequences, plan).run();
}

}  // namespace anyshape

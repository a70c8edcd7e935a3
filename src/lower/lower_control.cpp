// Control flow: its regions are blocks of their own, run by an item of the block around them.
#include "base/switches.h"
#include "lower/lowering.h"
#include "lower/split_rows.h"
#include "ops/control/cond.h"
#include "ops/control/scan.h"
#include "ops/control/while_loop.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace anyshape::lower {
namespace {

const Switch keeps_carries("keep_carries", "what a loop keeps of a carried value is where the steps read it");

// Of a value of a scan's body that begins with the active rows: those of a whole with as many rows as are carried.
ScanPlace place_of_row(const graph::Value& in_body, const Dim& active, int buffer, int other) {
  if (active.is_constant() || !begins_with(in_body.spec.shape, active)) return {.buffer = buffer, .other = other};
  const Dim row = substitute(in_body.spec.shape.count(), {{as_symbol(active)->id, Dim(1)}});
  return {.buffer = buffer, .other = other, .by = ScanPlace::By::Row, .stride = row * size_of(in_body.spec.dtype)};
}

// Of one that is a part of a whole over all time steps.
ScanPlace place_of_step(const graph::Value& in_body, const Dim& active, int buffer, int other) {
  ScanPlace place = place_of_row(in_body, active, buffer, other);
  if (place.by == ScanPlace::By::Row) {
    place.by = ScanPlace::By::StepRows;
  } else {
    place.by = ScanPlace::By::Step;
    place.stride = in_body.spec.shape.count() * size_of(in_body.spec.dtype);
  }
  return place;
}

}  // namespace

using graph::Graph;
using graph::Node;

void Lowering::run_region() {
  lower_kernels();
  block_ref().checks = graph_.checks;
  for (const graph::Value* output : graph_.outputs) {
    const int number = buffer_of(output);
    ProgramBuffer& buffer = program_.buffers[number];
    const bool own = buffer.kind == BufferKind::Temporary && buffer.block == block_;  // and not another output already
    if (own) buffer.kind = BufferKind::Lent;
    touch(number);
    block_ref().outputs.push_back({number, own, output->spec.shape.count()});
  }
}

std::vector<int> Lowering::buffers_of(std::span<graph::Value* const> values) const {
  std::vector<int> buffers;
  for (const graph::Value* value : values) buffers.push_back(buffer_of(value));
  return buffers;
}

// Values go in and out by buffer: a region reads what it captures where it stands, and writes its results where they are wanted.
void Lowering::lower_control(const Node& root) {
  for (const graph::Value* input : root.inputs) touch(buffer_of(input));
  for (const graph::Value* output : root.outputs) touch(buffer_of(output));
  const Node* const only[] = {&root};
  Origin outer = std::exchange(shared_.around, origins_.of(only));
  switch (root.op->traits.control) {
    case ControlFlow::Branch: add_item(lower_branch(root)); break;
    case ControlFlow::Scan: add_item(lower_scan(root)); break;
    case ControlFlow::While: add_item(lower_while(root)); break;
    case ControlFlow::None: throw InternalError(fmt::format("lower: {} is no control flow that can be lowered", root.op->name));
  }
  shared_.around = std::move(outer);
}

// The first inputs of a loop's region: values that change from one time step to the next, each with a second buffer to be written to.
std::vector<CarriedBuffer> Lowering::carry(const Node& root, size_t count, Lowering& body) {
  std::vector<CarriedBuffer> carried;
  for (size_t i = 0; i < count; ++i) {
    const graph::Value* output = root.outputs[i];
    const int spare = temporary_for(*output);
    touch(spare);
    carried.push_back({buffer_of(root.inputs[i]), buffer_of(output), spare, body.lend_input(i)});
  }
  return carried;
}

ScanItem Lowering::lower_scan(const Node& root) {
  const ScanAttrs& attrs = root.attrs.as<ScanAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried), sequences = static_cast<size_t>(attrs.sequences);
  const std::vector<int> inputs = buffers_of(root.inputs), outputs = buffers_of(root.outputs);
  const std::optional<SplitRows> split = split_rows(root, shared_.decisions);
  const RegionGraph region = split ? split->body : attrs.body;
  const Dim active = split ? split->active : attrs.active;
  const std::vector<graph::Value*>&given = region->inputs(), &made = region->outputs;
  Lowering body(*region, shared_);
  ScanItem item{.body = body.block(), .length = attrs.length, .reverse = attrs.reverse};
  const std::vector<CarriedBuffer> buffers = carry(root, carried, body);
  for (size_t i = 0; i < carried; ++i) {
    const auto place = [&](int buffer, int other = -1) { return place_of_row(*given[i], active, buffer, other); };
    const CarriedBuffer& each = buffers[i];
    item.carried.push_back(
        {.inside = each.inside, .first = place(each.initial), .later = place(each.spare, each.final), .last = place(each.final)});
  }
  for (size_t i = carried; i < given.size(); ++i) {
    const bool is_sequence = i < carried + sequences;
    const ScanPlace place = (is_sequence ? place_of_step : place_of_row)(*given[i], active, inputs[i], -1);
    if (place.by == ScanPlace::By::Nothing)
      body.bind_input(i, inputs[i]);
    else
      item.reads.push_back({.inside = body.lend_input(i), .place = place});
  }
  for (size_t i = carried; i < outputs.size(); ++i) {
    item.stacked.push_back(place_of_step(*made[i], active, outputs[i], -1));
    const auto same = std::find(given.begin(), given.begin() + attrs.carried, made[i]);
    if (same == given.begin() + attrs.carried || keeps_carries.is_off()) continue;
    ScanItem::Carried& kept = item.carried[static_cast<size_t>(same - given.begin())];
    if (!std::exchange(kept.is_kept, true)) kept.later = item.stacked.back();
  }
  if (!active.is_constant()) {
    const Dim rows = split ? split->rows : attrs.rows, total = attrs.is_packed() ? attrs.total : attrs.length * rows;
    item.rows = {active, rows, total, attrs.is_packed() ? inputs.back() : -1, split.has_value()};
    const auto is_same = [&](const Dim& known) { return known.same_as(active); };
    if (std::ranges::none_of(program_.scan_sizes, is_same)) program_.scan_sizes.push_back(active);
  }
  body.run_region();
  return item;
}

WhileItem Lowering::lower_while(const Node& root) {
  const WhileAttrs& attrs = root.attrs.as<WhileAttrs>();
  const auto carried = static_cast<size_t>(attrs.carried), asked = static_cast<size_t>(attrs.condition_inputs);
  const std::vector<int> inputs = buffers_of(root.inputs);
  Lowering condition(*attrs.condition, shared_);
  WhileItem item{.condition = condition.block(), .most = attrs.max_iterations};
  for (size_t i = 0; i < carried; ++i) item.asked.push_back(condition.lend_input(i));
  for (size_t i = 0; i < asked; ++i) condition.bind_input(carried + i, inputs[carried + i]);
  condition.run_region();
  Lowering body(*attrs.body, shared_);
  item.body = body.block();
  item.carried = carry(root, carried, body);
  for (size_t i = carried + asked; i < inputs.size(); ++i) body.bind_input(i - asked, inputs[i]);
  body.run_region();
  return item;
}

BranchItem Lowering::lower_branch(const Node& root) {
  const CondAttrs& attrs = root.attrs.as<CondAttrs>();
  const std::vector<int> inputs = buffers_of(root.inputs);
  auto lower_region = [&](const Graph& region, size_t first) {
    Lowering inner(region, shared_);
    for (size_t i = 0; i < region.inputs().size(); ++i) inner.bind_input(i, inputs[first + i]);
    inner.run_region();
    return inner.block();
  };
  const int then = lower_region(*attrs.then, 1);
  const int otherwise = lower_region(*attrs.otherwise, 1 + static_cast<size_t>(attrs.then_inputs));
  return {inputs[0], then, otherwise, buffers_of(root.outputs)};
}

}  // namespace anyshape::lower

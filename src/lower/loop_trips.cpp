// Values of a kernel as sizes, as far as they are, and the few shapes that loops over parts have.
#include "lower/loop_trips.h"

#include "loop/routines.h"
#include "shape/normal_form.h"

#include <algorithm>

namespace anyshape::lower {

using loop::Instruction;
using loop::Op;
using loop::Value;

static bool has_division(const Dim& size) {
  return std::ranges::any_of(terms_of(size), [](const Term& term) {
    return std::ranges::any_of(term.factors, [](const Factor& factor) { return factor.atom->kind == AtomKind::FloorDivide; });
  });
}

Quotient::Quotient(Dim above, Dim below) : above_(std::move(above)), below_(std::move(below)) {
  if (below_.is_constant()) {
    const int64_t number = below_.value();
    if (number == 0 || divisor_of(above_) % number != 0) return;
    above_ = above_ / number;
    below_ = 1;
    return;
  }
  const Division division = divide_polynomials(above_, below_);
  if (!division.remainder.same_as(0)) return;
  above_ = division.quotient;
  below_ = 1;
}

Quotient Quotient::operator*(const Quotient& other) const { return {above_ * other.above_, below_ * other.below_}; }

std::optional<Dim> Quotient::whole() const { return below_.same_as(1) ? std::optional(above_) : std::nullopt; }

LoopTrips::LoopTrips(const loop::Kernel& kernel, const std::vector<Dim>& dims)
    : dims_(dims), definitions_(kernel.types.size()), exact_(kernel.types.size()), from_memory_(kernel.types.size()) {
  read(kernel.body);
}

void LoopTrips::read(const loop::Block& block) {
  for (const Instruction& instruction : block) {
    if (instruction.results.size() == 1) {
      const auto id = static_cast<size_t>(instruction.results[0].id);
      definitions_[id] = &instruction;
      if (instruction.type == Dtype::i64) exact_[id] = evaluate(instruction);
      from_memory_[id] =
          instruction.op == Op::Load || std::ranges::any_of(instruction.args, [&](Value arg) { return is_from_memory(arg); });
    }
    const loop::Routine* const routine = instruction.op == Op::Call ? loop::find_routine(instruction.name) : nullptr;
    if (routine != nullptr && routine->holds_splits) {
      const std::optional<Dim>&count = exact(instruction.args[1]), &total = exact(instruction.args[2]);
      if (count && total) rows_[instruction.buffers[0]] = {*count, *total};
    }
    read(instruction.body);
    read(instruction.otherwise);
  }
}

const Instruction* LoopTrips::definition(Value value, Op op) const {
  const Instruction* const found = definition(value);
  return found != nullptr && found->op == op ? found : nullptr;
}

std::optional<Dim> LoopTrips::evaluate(const Instruction& instruction) const {
  if (instruction.op == Op::Constant) return Dim(instruction.integer);
  if (instruction.op == Op::Size) return dims_[static_cast<size_t>(instruction.integer)];
  std::vector<Dim> args;
  for (const Value arg : instruction.args) {
    if (!exact(arg)) return std::nullopt;
    args.push_back(*exact(arg));
  }
  const bool by_zero = args.size() == 2 && args[1].same_as(0);
  switch (instruction.op) {
    case Op::Add: return args[0] + args[1];
    case Op::Subtract: return args[0] - args[1];
    case Op::Multiply: return args[0] * args[1];
    case Op::FloorDivide: return by_zero ? Dim(0) : args[0] / args[1];
    case Op::Modulo: return by_zero ? Dim(0) : args[0] % args[1];
    case Op::Minimum: return min(args[0], args[1]);
    case Op::Maximum: return max(args[0], args[1]);
    default: return std::nullopt;
  }
}

std::optional<Quotient> LoopTrips::of(const Instruction& loop) { return length(loop.args[0], loop.args[1]); }

std::optional<Dim> LoopTrips::difference(Value sum, Value base) const {
  if (exact(sum) && exact(base)) return *exact(sum) - *exact(base);
  // What is added last is a constant where there is one.
  const auto split = [&](Value value) -> std::pair<Value, Dim> {
    const Instruction* const add = definition(value, Op::Add);
    return add != nullptr && exact(add->args[1]) ? std::pair{add->args[0], *exact(add->args[1])} : std::pair{value, Dim(0)};
  };
  const auto [sum_base, sum_rest] = split(sum);
  const auto [base_base, base_rest] = split(base);
  if (sum_base == base) return sum_rest;
  if (sum_base == base_base) return sum_rest - base_rest;
  const Instruction* const add = definition(sum, Op::Add);
  if (add != nullptr && add->args[1] == base) return exact(add->args[0]);
  return std::nullopt;
}

// (end - begin) / several, or nothing: rows of a block that are walked several at once before the others. The others are counted as if they
// were all there is.
bool LoopTrips::is_together(Value count) const {
  if (const Instruction* const select = definition(count, Op::Select);
      select != nullptr && exact(select->args[2]) && exact(select->args[2])->same_as(0))
    count = select->args[1];
  const Instruction* const groups = definition(count, Op::FloorDivide);
  const Instruction* const rows = groups == nullptr ? nullptr : definition(groups->args[0], Op::Subtract);
  return rows != nullptr && definition(rows->args[0], Op::Minimum) != nullptr;
}

Value LoopTrips::without_those_together(Value begin) const {
  const Instruction* const rest = definition(begin, Op::Add);
  const Instruction* const walked = rest == nullptr ? nullptr : definition(rest->args[1], Op::Multiply);
  return walked != nullptr && is_together(walked->args[0]) ? rest->args[0] : begin;
}

std::optional<Quotient> LoopTrips::length(Value begin, Value end) {
  begin = without_those_together(begin);
  if (const std::optional<Dim> known = difference(end, begin)) return Quotient(*known);
  if (exact(begin) && exact(begin)->same_as(0)) return mean(end);
  if (const std::optional<Quotient> row = row_length(begin, end)) return row;
  if (const Instruction* const sum = definition(end, Op::Add)) {
    if (sum->args[0] == begin) return mean(sum->args[1]);
    if (sum->args[1] == begin) return mean(sum->args[0]);
  }
  const Instruction* const least = definition(end, Op::Minimum);
  if (least == nullptr) return std::nullopt;
  for (const auto& [next, whole] : {std::pair{least->args[0], least->args[1]}, std::pair{least->args[1], least->args[0]}}) {
    const std::optional<Dim> part = difference(next, begin);
    if (!part) continue;
    // The first part begins at 0, or, where `begin` is a sum, at its other side.
    const Instruction* const from = definition(begin, Op::Add);
    if (from == nullptr) return part_of({}, whole, *part);
    return part_of(definition(from->args[0], Op::Multiply) != nullptr && definition(from->args[1], Op::Multiply) == nullptr ? from->args[1]
                                                                                                                            : from->args[0],
                   whole, *part);
  }
  return std::nullopt;
}

std::optional<Quotient> LoopTrips::row_length(Value begin, Value end) const {
  const Instruction *const first = definition(begin, Op::Load), *const last = definition(end, Op::Load);
  if (first == nullptr || last == nullptr || first->buffer != last->buffer) return std::nullopt;
  const auto rows = rows_.find(first->buffer);
  const std::optional<Dim> apart = difference(last->args[0], first->args[0]);
  if (rows == rows_.end() || !apart || !apart->same_as(1)) return std::nullopt;
  return Quotient(rows->second.total, rows->second.count);
}

std::optional<Quotient> LoopTrips::mean(Value value) {
  if (exact(value)) return Quotient(*exact(value));
  if (is_together(value)) return Quotient(0);
  const Instruction* const made = definition(value);
  if (made == nullptr) return std::nullopt;
  switch (made->op) {
    case Op::Multiply: {
      const std::optional<Quotient> a = mean(made->args[0]), b = mean(made->args[1]);
      return a && b ? std::optional(*a * *b) : std::nullopt;
    }
    case Op::Subtract: return length(made->args[1], made->args[0]);
    case Op::Minimum: return mean_of_minimum(*made);
    case Op::Maximum:  // guards against 0
      for (const auto& [bound, other] : {std::pair{made->args[0], made->args[1]}, std::pair{made->args[1], made->args[0]}}) {
        if (exact(bound) && exact(bound)->is_constant() && exact(bound)->value() <= 1) return mean(other);
      }
      return std::nullopt;
    case Op::Select: return mean_of_select(*made);
    case Op::FloorDivide: return mean_of_quotient(*made);
    default: return std::nullopt;
  }
}

// min(part, whole - number * part): one part of a whole. Of other two the smaller mean is the most it can be.
std::optional<Quotient> LoopTrips::mean_of_minimum(const Instruction& minimum) {
  for (const auto& [part, rest] : {std::pair{minimum.args[0], minimum.args[1]}, std::pair{minimum.args[1], minimum.args[0]}}) {
    const Instruction* const left = definition(rest, Op::Subtract);
    if (exact(part) && left != nullptr && definition(left->args[1], Op::Multiply) != nullptr)
      return part_of({}, left->args[0], *exact(part));
  }
  is_bound_ = true;
  const std::optional<Quotient> first = mean(minimum.args[0]);
  return first ? first : mean(minimum.args[1]);
}

std::optional<Quotient> LoopTrips::mean_of_select(const Instruction& select) {
  const Value then = select.args[1], otherwise = select.args[2];
  if (exact(then) && exact(then)->same_as(0)) return mean(otherwise);  // nothing to walk, however long the other axes are
  const Instruction* const equal = definition(select.args[0], Op::Equal);
  if (equal == nullptr || !exact(then) || !exact(then)->same_as(1) || !exact(otherwise)) return std::nullopt;
  // An axis that is either walked or combined: a == b ? 1 : b with a = 1 elsewhere.
  for (const auto& [kept, whole] : {std::pair{equal->args[0], equal->args[1]}, std::pair{equal->args[1], equal->args[0]}}) {
    if (exact(kept) && exact(whole) && exact(whole)->same_as(*exact(otherwise))) return Quotient(*exact(whole), *exact(kept));
  }
  return std::nullopt;
}

std::optional<Quotient> LoopTrips::mean_of_quotient(const Instruction& quotient) {
  const std::optional<Dim>& by = exact(quotient.args[1]);
  if (!by) return std::nullopt;
  // (tasks + slots - 1 - slot) / slots: every slots-th of the tasks.
  if (const Instruction* const rest = definition(quotient.args[0], Op::Subtract); rest != nullptr && exact(rest->args[0])) {
    return Quotient(*exact(rest->args[0]) - *by + 1, *by);
  }
  // (length + part - 1) / part
  const Instruction* const sum = definition(quotient.args[0], Op::Add);
  if (sum == nullptr || !exact(sum->args[1]) || !(*exact(sum->args[1]) - *by).same_as(-1)) return std::nullopt;
  return Quotient(parts({}, sum->args[0], *by));
}

Dim LoopTrips::parts(Value begin, Value end, const Dim& part) {
  if (exact(end) && (!begin || exact(begin))) {
    const Dim length = begin ? *exact(end) - *exact(begin) : *exact(end), count = (length + part - 1) / part;
    // Where sizes are multiples of the part, the number of parts looks like any other size.
    if (has_division(count)) splits_.push_back(count);
    return count;
  }
  if (const Instruction* const rest = definition(end, Op::Subtract); rest != nullptr && !begin)
    return parts(rest->args[1], rest->args[0], part);
  if (begin && exact(begin) && exact(begin)->same_as(0)) begin = {};
  const int64_t size = part.is_constant() ? part.value() : -1;
  const auto [entry, is_new] = unknown_parts_.try_emplace({begin.id, end.id, size});
  if (is_new) splits_.push_back(entry->second = make_symbol("parts"));
  return entry->second;
}

std::optional<Quotient> LoopTrips::part_of(Value begin, Value end, const Dim& part) {
  const std::optional<Quotient> whole = begin ? length(begin, end) : mean(end);
  if (!whole) return std::nullopt;
  return *whole * Quotient(1, parts(begin, end, part));
}

bool LoopTrips::is_overhead(const Quotient& runs) const {
  return std::ranges::any_of(splits_, [&](const Dim& split) { return divide_polynomials(runs.above(), split).remainder.same_as(0); });
}

}  // namespace anyshape::lower

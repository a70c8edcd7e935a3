// Kernels over rows: each row is walked in a few passes while it is near. Rows are independent of each other; a pass that combines adds in the
// order of a reduction by itself, so that the results have the same bits.
#include "base/switches.h"
#include "graph/text.h"
#include "loop/combine.h"
#include "lower/rows_kernel.h"

#include <fmt/format.h>

#include <array>

namespace anyshape::lower {
namespace {

const Switch walks_rows_together("rows_together", "rows whose length suits it are walked several at once");

}  // namespace

using graph::Node;
using loop::Value;

// Those of the rows are walked as one where all that is read goes on from one to the next; those within rows always are, or the planner would
// not have put them together.
void RowsKernel::find_axes() {
  axes_ = join_axes(rows_.space, reads_.joins, [&](int a, int b) { return (a < rows_.row_rank) == (b < rows_.row_rank); });
  indexed_ = reads_.indexed;
  open_ = reads_.open_sizes(rows_.space.rank() - 1);
}

void RowsKernel::declare_buffers() {
  const auto is_home = [&](const graph::Value* value) {
    return std::ranges::any_of(passes_.kept, [&](const Kept& kept) { return kept.home == value; });
  };
  const auto declare = [&](const graph::Value* value) {
    if (!written_.contains(value)) return;
    const loop::Access access = is_home(value) ? loop::Access::InOut : loop::Access::Out;
    buffers_[value] = kernel_.buffer(context_.find_buffer(value), value->spec.dtype, access);
  };
  for (const Pass& pass : passes_.passes) {
    for (const graph::Value* value : pass.per_row) declare(value);
    for (const Node* reduction : pass.reductions) declare(reduction->outputs[0]);
    for (const Node* column : pass.columns) declare(column->outputs[0]);
    for (const graph::Value* value : pass.stored) declare(value);
  }
}

// Few and long rows would keep few threads busy. Which version runs depends on sizes only, and both add in the same order.
void RowsKernel::emit() {
  const bool never = proves_less_equal(length(), long_row).value_or(false) || proves_less_equal(few_rows, rows_.rows()).value_or(false);
  if (never) return emit_blocks();
  const Value is_few = b_.less(kernel_.size(rows_.rows()), b_.integer(few_rows)),
              is_long = b_.less(b_.integer(long_row), kernel_.size(length()));
  b_.if_(b_.binary(loop::Op::And, is_few, is_long), [&] { emit_long_rows(); }, [&] { emit_blocks(); });
}

// Rows in ranges; in blocks where they share a scratch, and in those that make one part where rows are combined, too. Rows without elements are
// not walked where nothing is written for a row: there may be 2^62 of them.
void RowsKernel::emit_blocks() {
  const auto walked = [&](Value count) {
    return writes_per_row() ? count : b_.select(b_.equal(kernel_.size(length()), zero_), zero_, count);
  };
  const Value rows = kernel_.size(rows_.rows());
  if (!has_columns() && !has_scratch()) {
    return b_.ranges(walked(rows), kernel_.size(length()), loop::Walk::Once, [&](Value begin, Value end) { emit_block(begin, end); });
  }
  const Dim block_rows = has_columns() ? rows_per_part(length()) : max(Dim(scratch_elements) / max(length(), 1), 1);
  const Dim blocks = (rows_.rows() + block_rows - 1) / block_rows;
  const auto add_scratch = [&](const graph::Value* value, Dtype dtype) {
    if (scratch_.contains(value)) return;
    scratch_[value] = kernel_.buffer(context_.new_temporary(dtype, blocks * length()), dtype, loop::Access::InOut);
  };
  for (const Kept& kept : passes_.kept) {
    if (kept.home == nullptr) add_scratch(kept.value, kept.value->spec.dtype);
  }
  for_columns([&](const Node& column) { add_scratch(column.outputs[0], computed_in(column.outputs[0]->spec.dtype)); });

  const Value stride = kernel_.size(block_rows), all_blocks = kernel_.size(blocks);
  b_.each(zero_, walked(all_blocks), b_.integer(scratch_elements), [&](Value block) {
    block_ = block;
    begin_columns();
    const Value begin = b_.multiply(block, stride);
    emit_block(begin, b_.minimum(b_.add(begin, stride), rows));
  });
  if (has_columns()) finish_columns(all_blocks);
}

void RowsKernel::emit_block(Value begin, Value end) {
  const Value rest = walks_together_ ? emit_together(begin, end) : begin;
  b_.serial_for(rest, end, [&](Value row) { emit_rows(std::array{row}); });
}

bool RowsKernel::has_scratch() const {
  return std::ranges::any_of(passes_.kept, [](const Kept& kept) { return kept.home == nullptr; });
}

bool RowsKernel::has_columns() const {
  return std::ranges::any_of(passes_.passes, [](const Pass& pass) { return !pass.columns.empty(); });
}

// What a short row waits for - lanes that become one number, a division - takes as long as all else: other rows fill that time. And where rows
// are combined, too, a wide row and the sums along columns do not fit into the first cache together: several rows share the way of the sums.
// In between, several rows would only be more streams of memory (docs/internals/experiments/rows.md).
std::vector<RowsKernel::Lengths> RowsKernel::lengths_together() const {
  std::vector<Lengths> lengths = {{0, short_row}};
  if (has_columns()) lengths.push_back({wide_row, loop::part_elements});
  return lengths;
}

// Each row is combined in its own order, so that it has the bits of a row by itself. Rows that share a scratch come one after the other, and
// several versions of the loops are code enough.
std::string RowsKernel::why_not_together() const {
  const auto may_be = [](const Dim& a, const Dim& b) { return proves_less_equal(a, b).value_or(true); };
  const auto is_fit = [&](const Lengths& fit) { return may_be(fit.least, length()) && may_be(length(), fit.most); };
  if (std::ranges::none_of(lengths_together(), is_fit))
    return fmt::format("rows of {} elements keep a core busy by themselves", to_string(length()));
  if (!may_be(rows_together, rows_.rows())) return "its rows are few";
  if (walks_rows_together.is_off()) return "switched off";
  if (!open_.empty()) return "its loops have versions for sizes that may be 1";
  return has_scratch() ? "its rows share a scratch" : "";
}

void RowsKernel::choose_together() {
  std::string reason = why_not_together();
  walks_together_ = reason.empty();
  if (walks_together_) {
    const std::vector<Lengths> lengths = lengths_together();
    reason = fmt::format("rows of at most {} elements are walked {} at once", lengths[0].most, rows_together);
    for (size_t i = 1; i < lengths.size(); ++i) reason += fmt::format(", and those of {} to {}", lengths[i].least, lengths[i].most);
  }
  context_.decisions.push_back({"rows_together", graph::label(last_), walks_together_, std::move(reason)});
}

// Returns the first row that is left.
Value RowsKernel::emit_together(Value begin, Value end) {
  const Value size = b_.integer(rows_together), width = kernel_.size(length());
  const auto is_within = [&](const Lengths& fit) {
    return b_.binary(loop::Op::And, b_.less(b_.integer(fit.least - 1), width), b_.less(width, b_.integer(fit.most + 1)));
  };
  const std::vector<Lengths> lengths = lengths_together();
  Value is_fit = is_within(lengths[0]);
  for (size_t i = 1; i < lengths.size(); ++i) is_fit = b_.binary(loop::Op::Or, is_fit, is_within(lengths[i]));
  const Value count = b_.select(is_fit, b_.floor_divide(b_.subtract(end, begin), size), zero_);
  b_.serial_for(zero_, count, [&](Value group) {
    std::vector<Value> rows = {b_.add(begin, b_.multiply(group, size))};
    for (int64_t i = 1; i < rows_together; ++i) rows.push_back(b_.add(rows[0], b_.integer(i)));
    emit_rows(rows);
  });
  return b_.add(begin, b_.multiply(count, size));
}

void RowsKernel::emit_rows(std::span<const Value> rows) {
  begin_rows(rows);
  for (const Pass& pass : passes_.passes) {
    elements_.enter_body({});
    for_rows([&] {
      for (const graph::Value* value : pass.per_row) emit_per_row(value);
    });
    emit_pass(pass);
    ++pass_;
  }
}

bool RowsKernel::writes_per_row() const {
  const auto is_written = [&](const graph::Value* value) { return written_.contains(value); };
  return std::ranges::any_of(passes_.passes, [&](const Pass& pass) {
    return std::ranges::any_of(pass.per_row, is_written) ||
           std::ranges::any_of(pass.reductions, [&](const Node* reduction) { return is_written(reduction->outputs[0]); });
  });
}

// Joined axes are walked by the index of their last one; the others stay at 0, which row-major offsets take as the same element.
void RowsKernel::set_row(Value row) {
  std::vector<Value>& index = this->row().index;
  index.assign(static_cast<size_t>(rows_.row_rank), zero_);
  for (size_t i = axes_.size() - 1; i-- > 0;) {
    const auto last = static_cast<size_t>(axes_[i].last);
    const Value extent = kernel_.size(axes_[i].extent);
    index[last] = i == 0 ? row : b_.binary(loop::Op::Modulo, row, extent);
    if (i > 0) row = b_.floor_divide(row, extent);
  }
}

void RowsKernel::begin_rows(std::span<const Value> rows) {
  together_.assign(rows.size(), {});
  pass_ = 0;
  elements_.enter_body({});
  for_rows([&] {
    set_row(rows[current_]);
    for (const graph::Value* value : passes_.given_per_row) elements_.element(value, row_index(value->spec.shape));
  });
}

void RowsKernel::emit_per_row(const graph::Value* value) {
  const Node& node = *value->node;
  if (node.op->is_alias) {
    const graph::Value* const source = node.inputs[0];
    row().known[value] = elements_.element(source, row_index(source->spec.shape));
    return;
  }
  set_per_row(value, elements_.compute(value, row_index(value->spec.shape)));
}

// Halves are rounded even where they are not stored.
void RowsKernel::set_per_row(const graph::Value* value, Value result) {
  row().known[value] = b_.cast(result, value->spec.dtype);
  if (writes_rows_ && written_.contains(value))
    b_.store(buffers_.at(value), elements_.offset(value->spec.shape, row_index(value->spec.shape)), result);
}

// Those of the first row, then those of the next.
RowsKernel::Combined RowsKernel::combined_in(const Pass& pass, size_t rows) {
  Combined combined;
  for (size_t row = 0; row < rows; ++row) {
    for (const Node* reduction : pass.reductions) {
      combined.how.push_back(reduction->op->reduce->combine);
      combined.types.push_back(computed_in(reduction->outputs[0]->spec.dtype));
    }
  }
  return combined;
}

void RowsKernel::emit_pass(const Pass& pass) {
  const Value end = kernel_.size(length());
  if (pass.reductions.empty()) {
    if (!pass.stored.empty() || !pass.columns.empty()) b_.elements(zero_, end, [&](Value inner) { emit_body(pass, inner); });
    return;
  }
  const Combined combined = combined_in(pass, together_.size());
  const auto body = [&](Value inner) { return emit_body(pass, inner); };
  const bool is_one_part = together_.size() > 1 || is_short();
  const std::vector<Value> results =
      is_one_part ? b_.reduce(zero_, end, combined.how, body) : loop::reduce_in_parts(b_, zero_, end, combined.how, combined.types, body);
  auto result = results.begin();
  for_rows([&] {
    for (const Node* reduction : pass.reductions) set_per_row(reduction->outputs[0], *result++);
  });
}

void RowsKernel::set_element(Value inner) {
  at_ = row().index;
  at_.resize(static_cast<size_t>(rows_.space.rank()), zero_);
  at_.back() = inner;
}

// What the element contributes to each reduction, row by row. Everything is computed before anything is stored: a result may overwrite
// what is read.
std::vector<Value> RowsKernel::emit_body(const Pass& pass, Value inner) {
  elements_.enter_body(inner, choices_);
  struct Store {
    int32_t buffer;
    Value offset, value;
  };
  std::vector<Value> contributions;
  std::vector<Store> stores;
  for_rows([&] {
    set_element(inner);
    for (const Node* reduction : pass.reductions) contributions.push_back(elements_.element(reduction->inputs[0], at_));
    for (const graph::Value* value : pass.stored) {
      const Value result = elements_.element(value, at_);
      stores.push_back({buffers_.at(value), elements_.offset(rows_.space, at_), result});
    }
    for (const Kept& kept : passes_.kept) {
      if (kept.pass != pass_ || kept.home == kept.value || !is_left(kept)) continue;
      const Value value = elements_.element(kept.value, at_);
      stores.push_back({kept.home != nullptr ? buffers_.at(kept.home) : scratch_.at(kept.value), offset_of(kept), value});
    }
  });
  if (!is_long_) {
    for (const Node* column : pass.columns) {
      const Value sum = add_to_column(*column, inner);
      stores.push_back({scratch_.at(column->outputs[0]), offset_in_scratch(), sum});
    }
  }
  for (const Store& store : stores) b_.store(store.buffer, store.offset, store.value);
  return contributions;
}

Value RowsKernel::offset_of(const Kept& kept) { return kept.home != nullptr ? elements_.offset(rows_.space, at_) : offset_in_scratch(); }

Value RowsKernel::offset_in_scratch() { return b_.add(b_.multiply(block_, kernel_.size(length())), at_.back()); }

Value RowsKernel::given(const graph::Value* value, std::span<const Value> index) {
  if (!passes_.inside.contains(value)) return {};
  if (const auto known = row().known.find(value); known != row().known.end() && is_at_row(index)) return known->second;
  for (const Kept& kept : passes_.kept) {
    if (kept.value != value || kept.pass >= pass_ || !is_left(kept) || !std::ranges::equal(index, at_)) continue;
    return b_.load(kept.home != nullptr ? buffers_.at(kept.home) : scratch_.at(value), offset_of(kept));
  }
  return written_.contains(value) ? elements_.compute(value, index) : Value{};
}

GroupKernel lower_rows(const PlannedKernel& planned, const GroupContext& context) { return RowsKernel(planned, context).run(); }

}  // namespace anyshape::lower

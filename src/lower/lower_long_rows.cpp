// Few and long rows: every pass goes over all rows at once, in parts side by side. What a row has as a whole stands in memory in between.
#include "loop/combine.h"
#include "lower/rows_kernel.h"

#include <array>

namespace anyshape::lower {

using graph::Node;
using loop::Value;

void RowsKernel::emit_long_rows() {
  is_long_ = true;
  const Dim parts = (length() + (loop::part_elements - 1)) / loop::part_elements, rows = min(rows_.rows(), few_rows);
  for (const Pass& pass : passes_.passes) {
    for (const Node* reduction : pass.reductions) {
      if (long_results_.contains(reduction)) continue;
      const Dtype dtype = computed_in(reduction->outputs[0]->spec.dtype);
      const auto buffer = [&](const Dim& count) {
        return kernel_.buffer(context_.new_temporary(dtype, count), dtype, loop::Access::InOut);
      };
      long_results_[reduction] = {buffer(rows * parts), buffer(rows)};
    }
  }
  for (size_t pass = 0; pass < passes_.passes.size(); ++pass) emit_long_pass(pass);
  b_.serial_for(zero_, kernel_.size(rows_.rows()), [&](Value row) { begin_long_row(row, passes_.passes.size() - 1, true); });
  is_long_ = false;
}

// A part adds in lanes and the parts are combined in order, as when one task walks the row.
void RowsKernel::emit_long_pass(size_t number) {
  emit_long_columns(number);  // before the pass: what it stores may overwrite what is read
  const Pass& pass = passes_.passes[number];
  const Value rows = kernel_.size(rows_.rows()), end = kernel_.size(length()), stride = b_.integer(loop::part_elements);
  const Value parts = b_.ceil_divide(end, loop::part_elements);
  const auto in_parts = [&](const std::function<void(Value part, Value begin, Value end)>& body) {
    b_.each(zero_, b_.multiply(rows, parts), stride, [&](Value part) {
      const Value row = b_.floor_divide(part, parts), begin = b_.multiply(b_.subtract(part, b_.multiply(row, parts)), stride);
      begin_long_row(row, number, false);
      body(part, begin, b_.minimum(b_.add(begin, stride), end));
    });
  };
  const auto element = [&](Value inner) { return emit_body(pass, inner); };
  if (pass.reductions.empty()) {
    if (!pass.stored.empty()) in_parts([&](Value, Value from, Value to) { b_.elements(from, to, element); });
    return;
  }
  const Combined combined = combined_in(pass);
  in_parts([&](Value part, Value from, Value to) {
    const std::vector<Value> results = b_.reduce(from, to, combined.how, element);
    for (size_t i = 0; i < results.size(); ++i) b_.store(long_results_.at(pass.reductions[i]).parts, part, results[i]);
  });
  b_.serial_for(zero_, rows, [&](Value row) {
    const std::vector<Value> results = loop::reduce_in_order(b_, zero_, parts, combined.how, combined.types, [&](Value part) {
      std::vector<Value> loaded;
      for (const Node* reduction : pass.reductions)
        loaded.push_back(b_.load(long_results_.at(reduction).parts, b_.add(b_.multiply(row, parts), part)));
      return loaded;
    });
    for (size_t i = 0; i < results.size(); ++i) b_.store(long_results_.at(pass.reductions[i]).rows, row, results[i]);
  });
}

// What is known of the row before pass `number`.
void RowsKernel::begin_long_row(Value row, size_t number, bool writes) {
  begin_rows(std::array{row});
  writes_rows_ = writes;
  for (size_t earlier = 0; earlier <= number; ++earlier) {
    elements_.enter_body({});
    const Pass& pass = passes_.passes[earlier];
    for (const graph::Value* value : pass.per_row) emit_per_row(value);
    if (earlier == number) break;
    for (const Node* reduction : pass.reductions) {
      set_per_row(reduction->outputs[0], b_.load(long_results_.at(reduction).rows, row));
    }
  }
  pass_ = static_cast<int>(number);
  writes_rows_ = true;
}

}  // namespace anyshape::lower

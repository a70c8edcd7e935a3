// A kernel over rows being written: each row in a few passes while it is near, or, where rows are few and long, each pass over all of them.
// Internal to lower_rows.cpp, lower_row_columns.cpp and lower_long_rows.cpp.
#pragma once
#include "lower/axes.h"
#include "lower/lower_loops.h"
#include "lower/row_passes.h"
#include "shape/prove.h"

#include <algorithm>

namespace anyshape::lower {

class RowsKernel {
 public:
  static constexpr int64_t few_rows = 16, long_row = 2 * loop::part_elements;
  static constexpr int64_t scratch_elements = 16384;  // of the rows that share a scratch, about
  static constexpr int64_t rows_together = 4, short_row = 64, wide_row = 896;

  RowsKernel(const PlannedKernel& planned, const GroupContext& context)
      : context_(context),
        reads_(planned.reads),
        passes_(find_passes(planned.roots, context.groups)),
        last_(*planned.roots.back()),
        rows_(passes_.rows),
        kernel_(std::string(last_.op->name)),
        b_(kernel_.b),
        elements_(kernel_, context.groups, context.find_buffer, context.node_number) {
    for (const graph::Node* root : planned.roots) {
      if (!root->op->is_alias) written_.insert(root->outputs[0]);
    }
  }

  GroupKernel run() {
    find_axes();
    choose_together();
    check_indices(kernel_, indexed_, context_);
    declare_buffers();
    elements_.set_given([this](const graph::Value* value, std::span<const loop::Value> index) { return given(value, index); });
    emit_versions(kernel_, open_, length(), [&](const std::vector<OpenChoice>& choices) {
      choices_ = choices;
      emit();
    });
    return {kernel_.finish(), indexed_};
  }

 private:
  using Kept = RowPasses::Kept;
  using Pass = RowPasses::Pass;

  struct Row {
    std::vector<loop::Value> index;  // joined axes by the last of them
    std::unordered_map<const graph::Value*, loop::Value> known;
  };

  Dim length() const { return axes_.back().extent; }
  Row& row() { return together_[current_]; }
  const Row& row() const { return together_[current_]; }
  // lower_rows.cpp: row by row
  void find_axes();
  void declare_buffers();
  void emit();
  void emit_blocks();
  void emit_block(loop::Value begin, loop::Value end);
  loop::Value emit_together(loop::Value begin, loop::Value end);
  void emit_rows(std::span<const loop::Value> rows);
  void set_row(loop::Value row);
  void begin_rows(std::span<const loop::Value> rows);
  void emit_pass(const Pass& pass);
  void emit_per_row(const graph::Value* value);
  void set_per_row(const graph::Value* value, loop::Value result);
  void set_element(loop::Value inner);  // of the row meant
  std::vector<loop::Value> emit_body(const Pass& pass, loop::Value inner);
  loop::Value given(const graph::Value* value, std::span<const loop::Value> index);
  loop::Value offset_of(const Kept& kept);
  loop::Value offset_in_scratch();  // of the element
  struct Lengths {
    int64_t least, most;
  };
  std::vector<Lengths> lengths_together() const;  // of rows that are walked several at once
  void choose_together();
  std::string why_not_together() const;
  bool has_columns() const;
  bool has_scratch() const;
  bool writes_per_row() const;

  // lower_row_columns.cpp: reductions of all rows to one beside the others
  void for_columns(const std::function<void(const graph::Node& column)>& body) const {
    for (const Pass& pass : passes_.passes) {
      for (const graph::Node* column : pass.columns) body(*column);
    }
  }
  void begin_columns();
  loop::Value add_to_column(const graph::Node& column, loop::Value inner);
  void finish_columns(loop::Value blocks);
  void emit_long_columns(size_t number);
  void write_column(const graph::Node& column, loop::Value inner, loop::Value result);

  // Long rows have no scratch: what has no home is computed again.
  bool is_left(const Kept& kept) const { return kept.home != nullptr || !is_long_; }
  struct Combined {
    std::vector<loop::Combine> how;
    std::vector<Dtype> types;
  };
  static Combined combined_in(const Pass& pass, size_t rows = 1);
  bool is_short() const { return proves_less_equal(length(), loop::part_elements).value_or(false); }

  // lower_long_rows.cpp: pass by pass, each over all rows
  void emit_long_rows();
  void emit_long_pass(size_t number);
  void begin_long_row(loop::Value row, size_t number, bool writes);

  // `body` for each of the rows walked together, that row being the one meant meanwhile.
  void for_rows(const std::function<void()>& body) {
    for (current_ = 0; current_ < together_.size(); ++current_) body();
    current_ = 0;
  }
  bool is_at_row(std::span<const loop::Value> index) const { return std::equal(row().index.begin(), row().index.end(), index.begin()); }
  std::vector<loop::Value> row_index(const Shape& shape) const {
    std::vector<loop::Value> index = row().index;
    index.resize(static_cast<size_t>(shape.rank()), zero_);
    return index;
  }

  const GroupContext& context_;
  const KernelReads& reads_;
  const RowPasses passes_;
  const graph::Node& last_;  // of its results
  const RowSpace& rows_;
  KernelWriter kernel_;
  loop::Builder& b_;
  Elements elements_;
  std::unordered_set<const graph::Value*> written_;  // to memory
  std::vector<AxisGroup> axes_;                      // those of the rows, then the one of their elements
  std::vector<const graph::Node*> indexed_;
  std::vector<Dim> open_;            // sizes along the row that are 1 or not only at run time
  std::vector<OpenChoice> choices_;  // what the version being written takes them for
  std::unordered_map<const graph::Value*, int32_t> buffers_;
  // Buffers with a row for each block of rows: kept values without a home, sums along columns.
  std::unordered_map<const graph::Value*, int32_t> scratch_;
  loop::Value zero_ = b_.integer(0);
  loop::Value block_;            // of rows
  bool walks_together_ = false;  // where rows have a length that it pays for
  std::vector<Row> together_;    // the rows that one loop walks
  size_t current_ = 0;           // of them
  std::vector<loop::Value> at_;  // index of the element
  int pass_ = 0;
  bool is_long_ = false;     // the version for few and long rows is being written
  bool writes_rows_ = true;  // what a row has as a whole is written as soon as it is known
  struct LongResults {
    int32_t parts, rows;  // buffers: a number for each part of each row, and for each row
  };
  std::unordered_map<const graph::Node*, LongResults> long_results_;
};

}  // namespace anyshape::lower

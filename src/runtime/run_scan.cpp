// Loops over time steps: *steps* in this file. Steps of sequences and stacked results are parts of the whole; carried values change buffers with
// every step, or, where a stacked result is what the steps are given of them, go from one part of it to the next. Where rows do not meet, blocks
// of them run through all steps side by side: one parallel region for the whole loop.
#include "ops/control/scan.h"
#include "runtime/item_run.h"

#include <algorithm>

namespace anyshape::runtime {

int64_t row_blocks(int64_t rows, bool end_apart) {
  const int64_t each = end_apart ? 8 : 16;
  return std::clamp<int64_t>((rows + each - 1) / each, 1, 16);
}

// A loop over the rows [begin, end): all of them, or a block that meets no other one.
class ItemRun::ScanRun {
 public:
  ScanRun(ItemRun& items, const lower::ScanItem& item, const BlockSizes::OfScan& sizes, int block, const int64_t* counts)
      : items_(items), item_(item), sizes_(sizes), block_(block), length_(size(sizes.length)), counts_(counts) {
    if (!item.has_rows()) return;
    rows_ = end_ = size(sizes.rows);
    total_ = size(sizes.total);
  }
  int64_t rows() const { return rows_; }
  void require_counts() const {
    if (counts_ != nullptr) anyshape::require_counts({counts_, static_cast<size_t>(length_)}, rows_, total_);
  }
  void take_rows(int64_t begin, int64_t end) { begin_ = begin, end_ = end; }

  void run() {
    first_ = item_.reverse ? total_ : 0;
    for (int64_t done = 0; done < length_; ++done) {
      left_ = length_ - 1 - done;
      at_ = item_.reverse ? left_ : done;
      if (item_.reverse) first_ -= rows_at(at_);
      if (enter_step(active_at(at_))) run_step();
      if (!item_.reverse) first_ += rows_at(at_);
    }
    if (is_fresh_) {
      for (const lower::CarriedBuffer& each : item_.carried) keep(each, each.initial, each.final, 0, end_ - begin_);
    }
  }

 private:
  void*& pointer(int buffer) const { return items_.pointer(buffer); }
  int64_t& size(int slot) const { return items_.record_.table(block_)[static_cast<size_t>(slot)]; }
  int64_t bytes_of(int buffer) const { return items_.bytes_of(buffer); }
  void* at(int buffer, int64_t bytes) const { return static_cast<char*>(pointer(buffer)) + bytes; }
  // How far one step, or one row of it, is from the next is what the body says of its own buffers: the memory of the whole may be larger, where
  // its size is data-dependent.
  int64_t row_bytes(int64_t bytes) const { return active_ == 0 ? 0 : bytes / active_; }
  void* step_of(const lower::ScanItem::Sequence& each, int64_t bytes) const {
    return at(each.whole, each.by_rows ? row_bytes(bytes) * (first_ + begin_) : bytes * at_);
  }
  int64_t rows_at(int64_t step) const { return counts_ == nullptr ? rows_ : counts_[step]; }
  int64_t active_at(int64_t step) const { return std::clamp<int64_t>(rows_at(step) - begin_, 0, end_ - begin_); }
  // Written in turn such that the last step writes the final value.
  int written_to(const lower::CarriedBuffer& each, int64_t left) const { return left % 2 == 0 ? each.final : each.spare; }
  void* rows_of(const lower::CarriedBuffer& each, int buffer, int64_t first = 0) const {
    return each.by_rows && rows_ > 0 ? at(buffer, bytes_of(each.final) / rows_ * (begin_ + first)) : pointer(buffer);
  }

  // Where the stacked result has what a step is given of a carried value; the rows of that step begin at `first`.
  void* kept_at(const lower::CarriedBuffer& each, int64_t step, int64_t first) const {
    const int64_t bytes = bytes_of(each.final), row = rows_ == 0 ? 0 : bytes / rows_;
    return at(item_.stacked[static_cast<size_t>(each.kept)].whole, each.by_rows ? row * (first + begin_) : bytes * step);
  }
  void* input_of(const lower::CarriedBuffer& each) const {
    return each.kept >= 0 ? kept_at(each, at_, first_) : rows_of(each, is_fresh_ ? each.initial : written_to(each, left_ + 1));
  }
  // Where the next step reads it; in `final` where that has other rows, or where there is none.
  void* output_of(const lower::CarriedBuffer& each) const {
    if (each.kept < 0) return rows_of(each, written_to(each, left_));
    if (left_ == 0) return rows_of(each, each.final);
    const int64_t next = item_.reverse ? at_ - 1 : at_ + 1;
    if (each.by_rows && active_at(next) != active_) return rows_of(each, each.final);
    return kept_at(each, next, item_.reverse ? first_ - rows_at(next) : first_ + rows_at(at_));
  }

  // Rows [begin, end) of the block, or all of a value that has none.
  void keep(const lower::CarriedBuffer& each, int from, int to, int64_t begin, int64_t end) const {
    const int64_t bytes = bytes_of(each.final);
    if (!each.by_rows) return items_.copy(pointer(to), pointer(from), bytes);
    if (rows_ > 0) items_.copy(rows_of(each, to, begin), rows_of(each, from, begin), bytes / rows_ * (end - begin));
  }

  // Rows beyond the active ones have their values in `final`; the active ones stand where the step before has written them. False: there is
  // nothing to do in this step.
  bool enter_step(int64_t active) {
    if (item_.rows.apart && active == 0 && is_fresh_) return false;
    for (const lower::CarriedBuffer& each : item_.carried) {
      if (each.kept >= 0) {
        enter_kept(each, active);
        continue;
      }
      if (!each.by_rows) continue;
      const int written = written_to(each, left_ + 1);
      if (is_fresh_) keep(each, each.initial, each.final, active, end_ - begin_);
      if (!is_fresh_ && active < active_) keep(each, written, each.final, active, active_);
      if (!is_fresh_ && active > active_) keep(each, each.final, written, active_, active);
    }
    const bool changes = is_fresh_ || active != active_;
    active_ = active;
    if (item_.rows.apart && active == 0) return false;
    if (!changes) return true;
    if (item_.has_rows()) size(sizes_.active) = active;
    items_.enter_inner(item_.body, block_);
    for (const lower::ScanItem::Sequence& each : item_.captured)
      pointer(each.inside) = at(each.whole, row_bytes(bytes_of(each.inside)) * begin_);
    return true;
  }

  // What the step before did not write to where this one reads.
  void enter_kept(const lower::CarriedBuffer& each, int64_t active) const {
    const int64_t bytes = bytes_of(each.final);
    const int from = is_fresh_ ? each.initial : each.final;
    if (is_fresh_ && each.by_rows) keep(each, each.initial, each.final, active, end_ - begin_);
    if (!each.by_rows && is_fresh_) items_.copy(kept_at(each, at_, first_), pointer(from), bytes);
    if (each.by_rows && rows_ > 0 && (is_fresh_ || active != active_))
      items_.copy(kept_at(each, at_, first_), rows_of(each, from), bytes / rows_ * active);
  }

  void run_step() {
    items_.set_iteration(item_.body, block_, at_);
    const size_t carried = item_.carried.size();
    const auto for_each_output = [&](auto&& give) {
      for (size_t i = 0; i < carried; ++i) give(i, output_of(item_.carried[i]));
      for (size_t i = 0; i < item_.stacked.size(); ++i)
        give(carried + i, step_of(item_.stacked[i], items_.output_bytes(item_.body, carried + i)));
    };
    for (const lower::CarriedBuffer& each : item_.carried) pointer(each.inside) = input_of(each);
    for (const lower::ScanItem::Sequence& each : item_.sequences) pointer(each.inside) = step_of(each, bytes_of(each.inside));
    for_each_output([&](size_t output, void* where) { items_.lend_output(item_.body, output, where); });
    items_.run_block(item_.body);
    for_each_output([&](size_t output, void* where) { items_.copy_output(item_.body, output, where); });
    is_fresh_ = false;
  }

  ItemRun& items_;
  const lower::ScanItem& item_;
  const BlockSizes::OfScan& sizes_;
  int block_;
  int64_t length_;
  const int64_t* counts_;         // per time step; null: all rows in every one
  int64_t rows_ = 0, total_ = 0;  // of all blocks
  int64_t begin_ = 0, end_ = 0;
  int64_t at_ = 0, left_ = 0;  // the step, and how many come after it
  int64_t first_ = 0;          // where the rows of the step begin among those of all steps
  int64_t active_ = 0;
  bool is_fresh_ = true;  // no step has run
};

void ItemRun::run_scan(const lower::ScanItem& item, const BlockSizes::OfScan& sizes, int block) {
  const int64_t length = record_.table(block)[static_cast<size_t>(sizes.length)];
  const int64_t* const counts = item.rows.counts < 0 ? nullptr : read<int64_t>(block, pointer(item.rows.counts), length);
  ScanRun whole(*this, item, sizes, block, counts);
  whole.require_counts();
  const int64_t rows = whole.rows(), blocks = item.rows.apart ? row_blocks(rows, item.rows.counts >= 0) : 1;
  if (blocks == 1) return whole.run();
  while (record_.parts.size() < static_cast<size_t>(blocks)) record_.parts.push_back(std::make_unique<Record>());
  queue_.run_beside(blocks, [&](int64_t i, Queue& queue) {
    Record& own = *record_.parts[static_cast<size_t>(i)];
    if (own.blocks.size() < record_.blocks.size()) own.blocks.resize(record_.blocks.size());
    for (size_t k = 0; k < record_.blocks.size(); ++k) own.blocks[k].table = record_.blocks[k].table;
    own.pointers = record_.pointers;
    ItemRun items(executable_, own, queue);
    ScanRun part(items, item, sizes, block, counts);
    part.take_rows(rows * i / blocks, rows * (i + 1) / blocks);
    part.run();
  });
}

}  // namespace anyshape::runtime

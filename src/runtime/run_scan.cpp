// Loops over time steps: *steps* in this file. Where a step reads and writes the program says by formulas (lower/scan_place.h); a step that is not
// given where the one before has written is copied to there. Where rows do not meet, blocks of them run through all steps side by side: one parallel
// region for the whole loop.
#include "graph/packed_counts.h"
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
  // `counts` are the rows of each step; null: all of them in every one.
  ScanRun(ItemRun& items, const lower::ScanItem& item, const BlockSizes::OfScan& sizes, int block, const int64_t* counts)
      : items_(items), item_(item), sizes_(sizes), block_(block), counts_(counts), length_(size(sizes.length)) {
    if (item.has_rows()) rows_ = end_ = size(sizes.rows), total_ = size(sizes.total);
  }
  int64_t rows() const { return rows_; }
  void require_counts() const {
    if (counts_ != nullptr) anyshape::require_counts({counts_, static_cast<size_t>(length_)}, rows_, total_);
  }
  void take_rows(int64_t begin, int64_t end) { begin_ = begin, end_ = end; }

  void run() {
    lend_rows();
    Step step{.at = item_.reverse ? length_ - 1 : 0, .left = length_ - 1, .rows_before = item_.reverse ? total_ : 0};
    if (item_.reverse && length_ > 0) step.rows_before -= rows_at(step.at);
    for (; step.left >= 0; step = step_after(step)) {
      if (enter_step(step)) run_step(step);
    }
    if (!is_fresh_) return;
    for (size_t i = 0; i < item_.carried.size(); ++i) {
      const Carried& each = item_.carried[i];
      if (each.by_rows()) {
        copy_rows(i, at(each.first, row(i), step), at(each.last, row(i), step), 0, end_ - begin_);
      } else {
        copy_whole(each, at(each.first, 0, step), at(each.last, 0, step));
      }
    }
  }

 private:
  using Carried = lower::ScanItem::Carried;
  struct Step {
    int64_t at, left;     // its number, and how many come after it
    int64_t rows_before;  // where its rows begin among those of all steps
  };

  void*& pointer(int buffer) const { return items_.pointer(buffer); }
  int64_t& size(int slot) const { return items_.record_.table(block_)[static_cast<size_t>(slot)]; }
  int64_t row(size_t carried) const { return size(sizes_.carried[carried].row); }
  int64_t rows_at(int64_t step) const { return counts_ == nullptr ? rows_ : counts_[step]; }
  int64_t active_at(int64_t step) const { return std::clamp<int64_t>(rows_at(step) - begin_, 0, end_ - begin_); }

  // After the last one comes a step that is not run.
  Step step_after(const Step& step) const {
    const int64_t at = item_.reverse ? step.at - 1 : step.at + 1;
    if (step.left == 0) return {at, -1, step.rows_before};
    return {at, step.left - 1, item_.reverse ? step.rows_before - rows_at(at) : step.rows_before + rows_at(step.at)};
  }

  char* at(const lower::ScanPlace& place, int64_t stride, const Step& step) const {
    return static_cast<char*>(pointer(place.buffer_of(step.left))) + stride * place.index(step.at, begin_, step.rows_before);
  }
  char* later(size_t carried, const Step& step) const {
    return at(item_.carried[carried].later, size(sizes_.carried[carried].later), step);
  }
  char* input_of(size_t carried, const Step& step) const {
    const Carried& each = item_.carried[carried];
    return is_fresh_ && !each.is_kept ? at(each.first, row(carried), step) : later(carried, step);
  }
  // Where the next step reads it; in its last place where that has other rows, or where there is none.
  char* output_of(size_t carried, const Step& step) const {
    const Carried& each = item_.carried[carried];
    const Step next = step_after(step);
    const bool is_last = each.is_kept && (step.left == 0 || (each.by_rows() && active_at(next.at) != active_));
    return is_last ? at(each.last, row(carried), step) : later(carried, next);
  }

  // Rows [begin, end) of the block.
  void copy_rows(size_t carried, const char* from, char* to, int64_t begin, int64_t end) const {
    const int64_t bytes = row(carried);
    if (end > begin) items_.copy(to + bytes * begin, from + bytes * begin, bytes * (end - begin));
  }
  void copy_whole(const Carried& each, const char* from, char* to) const { items_.copy(to, from, items_.bytes_of(each.last.buffer)); }

  // What all steps read in one place.
  void lend_rows() {
    for (size_t i = 0; i < item_.reads.size(); ++i) {
      const lower::ScanItem::Read& each = item_.reads[i];
      if (each.place.by == lower::ScanPlace::By::Row) pointer(each.inside) = at(each.place, size(sizes_.reads[i]), {});
    }
  }

  // Rows beyond the active ones have their values in the last place; the active ones stand where the step before has written them. False: there is
  // nothing to do in this step.
  bool enter_step(const Step& step) {
    const int64_t active = active_at(step.at);
    if (item_.rows.apart && active == 0 && is_fresh_) return false;
    for (size_t i = 0; i < item_.carried.size(); ++i) bring_to(i, step, active);
    const bool changes = is_fresh_ || active != active_;
    active_ = active;
    if (item_.rows.apart && active == 0) return false;
    if (!changes) return true;
    if (item_.has_rows()) size(sizes_.active) = active;
    items_.enter_inner(item_.body, block_);
    return true;
  }

  // A carried value, to where this step reads it.
  void bring_to(size_t carried, const Step& step, int64_t active) const {
    const Carried& each = item_.carried[carried];
    if (!each.by_rows()) {
      if (each.is_kept && is_fresh_) copy_whole(each, at(each.first, 0, step), later(carried, step));
      return;
    }
    char *const first = at(each.first, row(carried), step), *const last = at(each.last, row(carried), step);
    char* const here = later(carried, step);
    if (is_fresh_) copy_rows(carried, first, last, active, end_ - begin_);
    if (each.is_kept) {
      if (is_fresh_ || active != active_) copy_rows(carried, is_fresh_ ? first : last, here, 0, active);
    } else if (!is_fresh_) {
      copy_rows(carried, here, last, active, active_);
      copy_rows(carried, last, here, active_, active);
    }
  }

  void run_step(const Step& step) {
    items_.set_iteration(item_.body, block_, step.at);
    const size_t carried = item_.carried.size();
    const auto for_each_output = [&](auto&& give) {
      for (size_t i = 0; i < carried; ++i) give(i, output_of(i, step));
      for (size_t i = 0; i < item_.stacked.size(); ++i) give(carried + i, at(item_.stacked[i], size(sizes_.stacked[i]), step));
    };
    for (size_t i = 0; i < carried; ++i) pointer(item_.carried[i].inside) = input_of(i, step);
    for (size_t i = 0; i < item_.reads.size(); ++i) {
      const lower::ScanItem::Read& each = item_.reads[i];
      if (each.place.by != lower::ScanPlace::By::Row) pointer(each.inside) = at(each.place, size(sizes_.reads[i]), step);
    }
    for_each_output([&](size_t output, void* where) { items_.lend_output(item_.body, output, where); });
    items_.run_block(item_.body);
    for_each_output([&](size_t output, void* where) { items_.copy_output(item_.body, output, where); });
    is_fresh_ = false;
  }

  ItemRun& items_;
  const lower::ScanItem& item_;
  const BlockSizes::OfScan& sizes_;
  int block_;
  const int64_t* counts_;
  int64_t length_;
  int64_t rows_ = 0, total_ = 0;  // of all blocks
  int64_t begin_ = 0, end_ = 0;
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

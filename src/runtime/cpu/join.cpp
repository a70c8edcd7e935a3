// The result as bytes: rows, one per index of the axes before, each of them a run of every part.
#include "runtime/cpu/join.h"

#include "tensor/host_data.h"
#include "tensor/strided_copy.h"
#include "tensor/view.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace anyshape::runtime {
namespace {

constexpr int64_t task_bytes = int64_t{256} << 10;  // less is copied before another thread is awake
constexpr int64_t long_row = int64_t{64} << 10;     // rows that are cut inside
constexpr size_t parts_at_once = 64;                // of short rows: what is written by turns stays in the cache

void copy_run(char* to, const char* from, int64_t bytes) {
  // Single numbers are frequent, and a call for each would take longer than the copy.
  if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}

class Joining {
 public:
  Joining(std::span<const Tensor> parts, char* to, int64_t rows, int64_t row_bytes) : to_(to), rows_(rows), row_bytes_(row_bytes) {
    parts_.reserve(parts.size());
    int64_t begin = 0;
    for (const Tensor& part : parts) {
      const bool is_dense = is_contiguous(*part.impl());
      // A view that stands in one piece in the result is copied there straight away, others by way of a dense copy.
      const TensorImpl& source = is_dense || rows == 1 ? *part.impl() : *copies_.emplace_back(contiguous(part)).impl();
      const int64_t run = part.impl()->count() / rows * size_of(source.dtype);
      if (run > 0) parts_.push_back({begin, run, host_data(source), is_dense || rows != 1 ? nullptr : &source});
      begin += run;
    }
  }

  void run() {
    if (rows_ == 1 || row_bytes_ >= long_row) {
      Pool::shared().run(rows_ * row_bytes_, task_bytes, [&](int64_t begin, int64_t end) { copy_bytes(begin, end); });
    } else {
      Pool::shared().run(rows_, std::max<int64_t>(task_bytes / row_bytes_, 1), [&](int64_t begin, int64_t end) { copy_rows(begin, end); });
    }
  }

 private:
  struct Part {
    int64_t begin;  // in a row, in bytes
    int64_t run;
    const char* data;
    const TensorImpl* view;  // of one that is copied as a whole, by whoever has its first byte
  };

  // Bytes [begin, end) of the result.
  void copy_bytes(int64_t begin, int64_t end) const {
    while (begin < end) {
      const int64_t row = begin / row_bytes_, row_begin = row * row_bytes_, row_end = std::min(end, row_begin + row_bytes_);
      auto part = std::ranges::upper_bound(parts_, begin - row_begin, {}, &Part::begin) - 1;
      for (; part != parts_.end() && row_begin + part->begin < row_end; ++part) {
        const int64_t whole = row_begin + part->begin, first = std::max(whole, begin), last = std::min(whole + part->run, row_end);
        if (part->view == nullptr) {
          copy_run(to_ + first, part->data + row * part->run + (first - whole), last - first);
        } else if (first == whole) {
          copy_row_major(*part->view, to_ + whole);
        }
      }
      begin = row_end;
    }
  }

  // Whole rows, some parts at a time.
  void copy_rows(int64_t begin, int64_t end) const {
    for (size_t first = 0; first < parts_.size(); first += parts_at_once) {
      const size_t last = std::min(first + parts_at_once, parts_.size());
      for (int64_t row = begin; row < end; ++row) {
        char* const to = to_ + row * row_bytes_;
        for (size_t i = first; i < last; ++i) copy_run(to + parts_[i].begin, parts_[i].data + row * parts_[i].run, parts_[i].run);
      }
    }
  }

  char* to_;
  int64_t rows_, row_bytes_;
  std::vector<Part> parts_;  // those with elements
  std::vector<Tensor> copies_;
};

}  // namespace

Tensor join(std::span<const Tensor> parts, std::span<const int64_t> sizes, int axis) {
  Tensor whole = make_empty(parts[0].dtype(), sizes);
  int64_t rows = 1;
  for (const int64_t size : sizes.first(static_cast<size_t>(axis))) rows *= size;
  const int64_t bytes = whole.impl()->count() * size_of(whole.dtype());
  if (bytes > 0) Joining(parts, host_data(whole), rows, bytes / rows).run();
  return whole;
}

void join(Pool& pool, const JoinedRuns& runs) {
  int64_t row_bytes = 0;
  for (int64_t i = 0; i < runs.parts; ++i) row_bytes += runs.lengths[i] * runs.element_bytes;
  if (row_bytes == 0) return;
  const int64_t row_distance = runs.row_distance * runs.element_bytes;
  // Bytes [begin, end) of a row.
  const auto copy_part_of_row = [&](int64_t row, int64_t begin, int64_t end) {
    int64_t offset = 0;
    for (int64_t i = 0; i < runs.parts && offset < end; ++i) {
      const int64_t run = runs.lengths[i] * runs.element_bytes, first = std::max(offset, begin), last = std::min(offset + run, end);
      const char* const source = static_cast<const char*>(runs.sources[i]) + row * run;
      if (first < last) copy_run(runs.target + row * row_distance + first, source + (first - offset), last - first);
      offset += run;
    }
  };
  if (row_bytes < long_row) {
    pool.run(runs.rows, std::max<int64_t>(task_bytes / row_bytes, 1), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) copy_part_of_row(row, 0, row_bytes);
    });
    return;
  }
  pool.run(runs.rows * row_bytes, task_bytes, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = begin / row_bytes, row_begin = row * row_bytes, stop = std::min(end, row_begin + row_bytes);
      copy_part_of_row(row, begin - row_begin, stop - row_begin);
      begin = stop;
    }
  });
}

}  // namespace anyshape::runtime

// Where the time steps of a scan have a value in memory, as a formula in numbers that every backend has at hand: a device works it out by itself.
#pragma once
#include <anyshape/dim.h>

#include <cstdint>

namespace anyshape::lower {

// `stride` bytes lie from one to the next; `by` says what is counted.
struct ScanPlace {
  enum class By : uint8_t {
    Nothing,   // it is the same for all time steps
    Step,      // the time step: entry `step` of the first axis
    Row,       // the first of the rows that are run by themselves
    StepRows,  // the same among the rows of all time steps one after the other: those of the time steps before come first
  };
  int buffer = -1;  // of the program
  int other = -1;   // where an odd number of time steps follow; -1: `buffer` there, too
  By by = By::Nothing;
  Dim stride = 0;

  int buffer_of(int64_t steps_left) const { return other >= 0 && steps_left % 2 != 0 ? other : buffer; }
  // `row` is the first of those that are run by themselves, `rows_before` the number of rows of the time steps before.
  int64_t index(int64_t step, int64_t row, int64_t rows_before) const {
    return by == By::Nothing ? 0 : by == By::Step ? step : by == By::Row ? row : rows_before + row;
  }
};

}  // namespace anyshape::lower

// How much a program computes and moves, as formulas in its sizes: read off the loops themselves, so that no table of ops can be wrong. Library calls
// say it themselves.
#pragma once
#include "lower/program.h"

namespace anyshape::lower {

struct Work {
  Dim flops = 0;       // floating-point arithmetic: an fma counts 2, a product of matrices 2 m n k; comparing, choosing and casting nothing
  Dim bytes_read = 0;  // every buffer once: what a kernel keeps for itself, or reads again from a cache, is not memory traffic
  Dim bytes_written = 0;
  bool is_bound = false;         // the flops are the most it can be: branches and masks do less
  bool depends_on_data = false;  // there is more: loops whose length stands in the data

  Work& operator+=(const Work& other);
};

// What counts: a library product of matrices, and floating-point arithmetic.
bool is_product(const loop::Instruction& instruction);
bool is_arithmetic(const loop::Instruction& instruction);

Work count_item(const Program& program, const Item& item);  // with what it runs, as often as it runs it; the longer one of two branches
Work count_block(const Program& program, int block);        // its items, once

}  // namespace anyshape::lower

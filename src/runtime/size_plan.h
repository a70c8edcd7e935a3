// Where a program's sizes are: every block evaluates its own into a table of integers, by straight-line code, in stages where sizes are
// data-dependent. Made once; a call only runs it.
#pragma once
#include "lower/program.h"
#include "shape/dim_program.h"

#include <utility>
#include <vector>

namespace anyshape::runtime {

// All numbers are slots of the block's table.
struct BlockSizes {
  DimProgram sizes;
  std::vector<int> arena;    // per arena slot: its bytes
  std::vector<int> outputs;  // per output: its elements
  struct OfScan {
    int length = -1;
    int active = -1;  // of those with rows: the symbol, and the sizes it is held to
    int rows = -1;
    int total = -1;
    struct OfCarried {
      int row = -1;    // stride of a row
      int later = -1;  // of its place in later time steps
    };
    std::vector<OfCarried> carried;
    std::vector<int> reads, stacked;  // strides
  };
  std::vector<OfScan> items;  // per item, for scans
  std::vector<std::pair<int, int>> checks;
  std::vector<std::vector<int>> limits;  // per indexed op and component
  struct Placed {
    int buffer;  // of the program
    int stage;   // when its size is known, as a stage of `sizes`
  };
  std::vector<Placed> placed;  // buffers that get their memory when the block is entered: all of its own but those that updates write
};

struct SizePlan {
  // `symbols` in the order a run gets their values.
  SizePlan(const lower::Program& program, std::vector<Dim> symbols);

  int random_slot = -1;  // of the key among the symbols; the call id follows
  std::vector<BlockSizes> blocks;
  std::vector<std::vector<int>> launches;                          // per launch: where its dims are in its block's table
  std::vector<LibrarySizes<int>> library_calls;                    // per library call: where its sizes are, likewise
  std::vector<int> counts;                                         // per buffer: its elements, likewise
  std::vector<std::vector<int>> results;                           // per result: its sizes
  std::vector<std::vector<std::pair<int, int>>> data_size_checks;  // per data-dependent size
  std::vector<int> data_size_bounds;                               // per data-dependent size: its bound
  std::vector<bool> is_update;                                     // per buffer: it may be written over an argument

  const BlockSizes& block(int number) const { return blocks[static_cast<size_t>(number)]; }

 private:
  void plan_block(const lower::Program& program, size_t number, const std::vector<int>& own);
  void plan_launch(const lower::Program& program, int launch, BlockSizes& plan);
  void plan_library(const lower::Program& program, int call, BlockSizes& plan);
};

}  // namespace anyshape::runtime

// What the allocator knows of a block. It stands beside the memory, which may be a device's: whoever keeps blocks never touches them.
#pragma once

namespace anyshape {

class Memory;

// One for as long as the memory is not given back to its source.
struct Block {
  Memory* memory;  // that it belongs to
  void* pointer;
  int size_class;
  Block* next = nullptr;  // in a list of free ones
};

}  // namespace anyshape

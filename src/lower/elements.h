// Pulls elements through a group: the element of a value is a load where it stands in memory, else its op's element rule applied to the
// elements of its inputs. Records on the way what the loops around need to know.
#pragma once
#include "base/pointer_table.h"
#include "loop/element.h"
#include "lower/group.h"
#include "lower/kernel_writer.h"

#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace anyshape::lower {

// How the innermost loop treats sizes that may or may not be 1: each version of the loop fixes them one way.
struct OpenChoice {
  Dim size;
  bool repeated;  // the size is 1: every iteration reads the same element
};

// One reading of elements by an index, for deciding which axes can be walked as one.
struct ElementAccess {
  const Shape* shape;  // of a value of the graph
  loop::Values index;
  bool row_major = true;
  const graph::Value* value = nullptr;  // that is read from memory; null: an element that is moved before it is read
};

// x less the greatest of the numbers it is among, as every softmax has it: what made the two is asked even where they are in memory.
bool is_at_most_zero(const graph::Value* value);

class Elements {
 public:
  using FindBuffer = std::function<int(const graph::Value*)>;  // the program buffer of a value in memory
  Elements(KernelWriter& kernel, const Groups& groups, FindBuffer find_buffer, std::function<int(const graph::Node*)> node_number)
      : kernel_(kernel), groups_(groups), find_buffer_(std::move(find_buffer)), node_number_(std::move(node_number)) {}

  // Buffers that are read at the loop's own index only: loop::Access::Own.
  void read_at_own_index(std::set<int> buffers) { own_ = std::move(buffers); }
  // Starts a new innermost body: earlier elements are out of scope. `inner` is the index of the vector loop, if there is one.
  void enter_body(loop::Value inner, std::vector<OpenChoice> choices = {});
  loop::Value element(const graph::Value* value, std::span<const loop::Value> index);
  loop::Value compute(const graph::Value* value, std::span<const loop::Value> index);  // by its op's rule, even where it is in memory
  loop::Value offset(const Shape& shape, std::span<const loop::Value> index);          // row-major

  // Asked first for every element: one that the loops around have already, or none.
  using Given = std::function<loop::Value(const graph::Value* value, std::span<const loop::Value> index)>;
  void set_given(Given given) { given_ = std::move(given); }

  const std::vector<ElementAccess>& accesses() const { return accesses_; }
  // A size that is 1 or not only at run time, along an index: met without a choice.
  struct OpenIndex {
    loop::Value index;
    Dim size;
  };
  const std::vector<OpenIndex>& open_sizes() const { return open_; }
  const std::vector<const graph::Node*>& indexed_nodes() const { return indexed_; }

 private:
  class Call;
  struct Known {  // the element of a value at an index
    loop::Values index;
    loop::Value element;
    int32_t next;  // the one of the same value that was known before; -1: none
  };
  loop::Value find_known(const graph::Value* value, std::span<const loop::Value> index) const;
  loop::Value remember(const graph::Value* value, std::span<const loop::Value> index, loop::Value element);
  loop::Value memory_offset(const graph::Value* value, std::span<const loop::Value> index);
  loop::Value broadcast_index(loop::Value index, const Dim& size, const Dim& extent);

  KernelWriter& kernel_;
  const Groups& groups_;
  FindBuffer find_buffer_;
  Given given_;
  std::function<int(const graph::Node*)> node_number_;
  std::set<int> own_;
  loop::Value inner_;
  std::vector<OpenChoice> choices_;
  std::vector<Known> known_;
  PointerTable<graph::Value, int32_t> last_known_;  // per value: 1 + its last one among them
  std::vector<ElementAccess> accesses_;
  std::vector<OpenIndex> open_;
  std::vector<const graph::Node*> indexed_;
};

}  // namespace anyshape::lower

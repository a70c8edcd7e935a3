// One graph being lowered: the program's own, or a region in the block around it. Internal to lower.cpp, lower_whole.cpp and lower_control.cpp.
#pragma once
#include "lower/known_groups.h"
#include "lower/known_kernels.h"
#include "lower/lower_loops.h"
#include "lower/origin.h"

#include <span>

namespace anyshape::lower {

// What all blocks of a program share.
struct Shared {
  Program program;
  Decisions& decisions;
  KnownKernels kernels = {};
  KnownGroups groups = {};
  int random_ops = 0;
  int ops = 0;
  Origin around = {};  // of the control op whose region is lowered
};

class Lowering {
 public:
  Lowering(const graph::Graph& graph, Shared& shared, std::span<const Update> updates = {});

  void run_whole();

  int block() const { return block_; }
  // A region's input that is a buffer from outside, and one that the control item lends.
  void bind_input(size_t input, int buffer) { buffers_[graph_.inputs()[input]] = buffer; }
  int lend_input(size_t input);
  void run_region();

 private:
  // lower.cpp: kernels in order
  void number(const graph::Node& node);
  void lower_kernels();
  void lower_kernel(const PlannedKernel& planned);
  void lower_row_kernel(const PlannedKernel& planned);
  GroupKernel write(const PlannedKernel& planned);
  KernelKey key_of(const PlannedKernel& planned);
  std::optional<Launch> written_before(const KernelKey& key, const PlannedKernel& planned);
  void keep_written(const KernelKey& key, const PlannedKernel& planned, Launch& launch, const KnownGroups::Before& before);
  KnownGroups::Before before_writing() const { return {program_.buffers.size(), shared_.decisions.size()}; }
  std::vector<const graph::Node*> nodes_of(const Roots& roots) const;
  void add_launch(Launch launch, std::span<const graph::Node* const> nodes, std::span<const graph::Node* const> indexed);
  void add_indexed(std::span<const graph::Node* const> indexed);
  void tell(std::vector<std::string>& ops, Origin& origin, std::span<const graph::Node* const> nodes) const;
  void add_item(Item item) { block_ref().items.push_back(std::move(item)); }
  GroupContext context();

  // Buffers.
  Block& block_ref() { return program_.blocks[static_cast<size_t>(block_)]; }
  int add_buffer(ProgramBuffer buffer);
  int new_temporary(Dtype dtype, const Dim& count) { return add_buffer({BufferKind::Temporary, -1, dtype, count}); }
  int temporary_for(const graph::Value& value);
  int buffer_of(const graph::Value* value) const;
  std::vector<int> buffers_of(std::span<graph::Value* const> values) const;
  void make_room(const graph::Node& node, const graph::Value& output);
  void touch(int number);

  // lower_whole.cpp: ops that write their own loops, or leave their work to the library
  void lower_product(const PlannedKernel& planned);
  void lower_whole(const PlannedKernel& planned);
  void add_library_call(LibraryCall call, const PlannedKernel& planned, const std::string& name,
                        std::span<const graph::Node* const> indexed);
  int add_epilogue(const PlannedKernel& planned, const std::string& name);
  void add_data_size(const graph::Node& node);

  // lower_control.cpp: regions
  void lower_control(const graph::Node& root);
  BranchItem lower_branch(const graph::Node& root);
  ScanItem lower_scan(const graph::Node& root);
  WhileItem lower_while(const graph::Node& root);
  std::vector<CarriedBuffer> carry(const graph::Node& root, size_t count, Lowering& body);

  const graph::Graph& graph_;
  Groups groups_;
  Origins origins_;
  Shared& shared_;
  Program& program_;
  int block_ = 0;
  graph::SlotTable<graph::Node, int> numbers_;
  graph::SlotTable<graph::Value, int> buffers_;  // of values in memory; -1: it is not there yet
};

}  // namespace anyshape::lower

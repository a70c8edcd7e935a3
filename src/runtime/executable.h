// A program that can run: kernels as its backend compiled them, where its sizes are, and what a call does with it. Data-dependent sizes cut a run into stages: each
// has an arena of its own, laid out when its sizes are known.
#pragma once
#include "lower/program.h"
#include "runtime/backend.h"
#include "runtime/launch_times.h"
#include "runtime/size_plan.h"
#include "tensor/tensor_impl.h"

#include <memory>
#include <span>
#include <vector>

namespace anyshape::runtime {

// Where random ops of one call draw from: op n takes `counter` + n.
struct RandomState {
  int64_t key = 0;
  int64_t counter = 0;
};

// The variables behind a run's arguments, where it updates some.
class VariableWriter {
 public:
  virtual ~VariableWriter() = default;
  // Nothing that follows can fail: from here on, until the caller has the results, nobody else reads the variables.
  virtual void begin() = 0;
  virtual bool may_write_over(int argument) = 0;  // nobody else holds the old value
};

class Executable : public std::enable_shared_from_this<Executable> {
 public:
  // `symbols` in the order run() gets their values; `code` is the backend's, of the program.
  Executable(lower::Program program, std::vector<Dim> symbols, Backend& backend, std::shared_ptr<const Code> code);

  // Runs on row-major arguments, one per graph input. DataError for an index out of range, ShapeError for a size rule of a region that is
  // entered and for one on a data-dependent size; nothing but the results is written, and, once nothing can fail any more, the
  // arguments that `variables` allows: the results of their updates have the same memory.
  std::vector<Tensor> run(std::span<const Tensor> arguments, std::span<const int64_t> symbol_values, RandomState random,
                          VariableWriter* variables = nullptr) const;

  bool uses_random() const { return program_.uses_random; }
  const lower::Program& program() const { return program_; }
  const SizePlan& sizes() const { return sizes_; }
  const Code& code() const { return *code_; }
  Backend& backend() const { return backend_; }
  Memory& memory() const { return memory_; }
  const LaunchTimes& times() const { return times_; }

 private:
  const int64_t* symbols_of_run(std::span<const int64_t> given, RandomState random, Record& record) const;
  void place_updates(Record& record, std::span<const Tensor> arguments, VariableWriter* variables) const;
  std::vector<Tensor> wrap_results(const Record& record, std::span<const Tensor> arguments) const;

  const lower::Program program_;
  const SizePlan sizes_;
  Backend& backend_;
  Memory& memory_;  // the backend's
  const std::shared_ptr<const Code> code_;
  const LaunchTimes times_;
};

}  // namespace anyshape::runtime

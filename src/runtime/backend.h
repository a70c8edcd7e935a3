// What a target provides: it compiles programs and runs them in a memory of its own. docs/internals/add_a_target.md goes through it.
#pragma once
#include "lower/program.h"

#include <anyshape/tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace anyshape {
class Memory;
}  // namespace anyshape

namespace anyshape::runtime {

class Executable;
struct Record;

// What a backend made of a program's kernels. Any number of threads run it.
class Code {
 public:
  Code() = default;
  virtual ~Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  virtual int64_t bytes() const { return 0; }             // of machine code and constants
  virtual int interpreted_launches() const { return 0; }  // that have no machine code
};

// Items [first, last) of a program's first block.
struct Segment {
  size_t first = 0, last = 0;
};

// One for each target, as long as the process. Work is done in the order in which it is given, whichever thread gives it where it touches the
// same memory; it may be done after the call that gave it has returned.
class Backend {
 public:
  virtual std::string_view name() const = 0;

  // Where arguments, results and arenas are. Memory that is freed may be taken again at once: what comes later is done later.
  virtual Memory& memory() = 0;

  // Cuts the loops of the program's kernels, which say what is independent, for this target.
  virtual void map(lower::Program& program) const = 0;

  virtual std::shared_ptr<const Code> compile(const lower::Program& program) = 0;

  // Runs a part of a program. Block 0 has been entered: the record has its sizes and its memory (enter_block.h); inner blocks are entered on
  // the way. Returns when the sizes that the part finds in its data are in the record. A backend that is not done by then copies what it needs
  // of the record and holds the executable and the arguments. What fails throws here, or at throw_failure().
  virtual void run(const Executable& executable, Record& record, Segment segment) = 0;

  // Between its memory and the host's, in order with what runs; done when it returns.
  virtual void copy_in(void* to, const void* from_host, int64_t bytes) = 0;
  virtual void copy_out(void* to_host, const void* from, int64_t bytes) = 0;

  // Until all is done that was given. Then what failed since it was last asked throws, once: the first of it. Also asked at the beginning of a
  // call, without waiting.
  virtual void wait() = 0;
  virtual void throw_failure() = 0;

  // Tensors one after the other along an axis of a result whose sizes are given, by copies: no kernel is compiled for each number of them. None
  // where a kernel is to do it.
  virtual std::optional<Tensor> join([[maybe_unused]] std::span<const Tensor> parts, [[maybe_unused]] std::span<const int64_t> sizes,
                                     [[maybe_unused]] int axis) {
    return std::nullopt;
  }

  // Products are likely to come: what takes long at the first of them may begin now.
  virtual void expect_products() {}

 protected:
  ~Backend() = default;
};

}  // namespace anyshape::runtime

// Variables that are read as of one moment and changed as one: no reader sees half of a commit. Whoever takes several gates takes them in the
// order of the variables' ids, so that nobody waits in a circle; likewise turns, which come before gates.
#pragma once
#include "graph/stateful.h"

#include <memory>
#include <span>
#include <vector>

namespace anyshape {

class VariableSet {
 public:
  VariableSet() = default;
  explicit VariableSet(std::vector<std::shared_ptr<VariableState>> variables);

  void read(std::vector<Tensor>& values) const;  // appends them, in the order given

  // Nobody else assigns the variables as long as it lives: what is read meanwhile is what a commit at its end replaces. Readers go on. The caller is
  // inside a NoFork, here as in read() and while writing.
  class Turn {
   public:
    explicit Turn(const VariableSet& variables) noexcept : variables_(variables) {
      for (const VariableState* variable : variables_.by_id_) variable->turn().lock();
    }
    ~Turn() {
      for (const VariableState* variable : variables_.by_id_) variable->turn().unlock();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const VariableSet& variables_;
  };

  // Nobody else reads or changes the variables as long as it is locked.
  class Writing {
   public:
    explicit Writing(const VariableSet& variables) : variables_(variables) {}
    ~Writing() { unlock(); }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;

    void lock();
    void unlock() noexcept;
    // Whether `value`, read before, is still the variable's, and nobody but the variable and the caller, by that one handle, can see its
    // memory: then it may be written over.
    bool is_last_reader(size_t variable, const Tensor& value) const;
    // Gives every variable its value, and takes the old one; those whose memory is the new value's own stay.
    void swap(std::span<Tensor> values) noexcept;

   private:
    const VariableSet& variables_;
    bool locked_ = false;
  };

 private:
  std::vector<std::shared_ptr<VariableState>> variables_;
  std::vector<VariableState*> by_id_;
};

}  // namespace anyshape

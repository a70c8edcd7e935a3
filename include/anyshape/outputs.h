// What a call of a layer gives where it may be several tensors: by position and by name.
#pragma once
#include <anyshape/tensor.h>

#include <array>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

///   const as::Outputs found = model.outputs({words, numbers});
///   found[0], found["price"]
///   const auto [y, h, c] = lstm.outputs(x).array<3>();
class Outputs {
 public:
  Outputs() = default;
  Outputs(std::vector<Tensor> tensors, std::vector<std::string> names = {}) : tensors_(std::move(tensors)), names_(std::move(names)) {}

  size_t size() const { return tensors_.size(); }                   ///< the number of tensors
  Tensor operator[](size_t position) const;                         ///< ArgumentError where there are not so many
  Tensor operator[](const std::string& name) const;                 ///< ArgumentError with the known names for an unknown one
  operator Tensor() const;                                          ///< of one: the tensor itself; ArgumentError for several
  std::vector<std::string> names() const;                           ///< "output1" for one that was given no name
  const std::vector<Tensor>& tensors() const& { return tensors_; }  ///< by position
  std::vector<Tensor> tensors() && { return std::move(tensors_); }  ///< of what a call has just given: outlives it
  auto begin() const { return tensors_.begin(); }                   ///< over the tensors, by position
  auto end() const { return tensors_.end(); }                       ///< of the tensors

  /// All of them, for a structured binding. ArgumentError where there are more or fewer.
  template <size_t Count>
  std::array<Tensor, Count> array() const {
    require_count(Count);
    std::array<Tensor, Count> all;
    for (size_t i = 0; i < Count; ++i) all[i] = tensors_[i];
    return all;
  }

  friend std::ostream& operator<<(std::ostream& out, const Outputs& outputs);  ///< a line "price: [1, 2]" for each

  /// Lets functions take it and give it.
  template <class Visitor>
  void visit(Visitor&& visitor) {
    visitor("tensors", tensors_);
    visitor("names", names_);
  }

 private:
  void require_count(size_t count) const;

  std::vector<Tensor> tensors_;
  std::vector<std::string> names_;  ///< of the first ones, maybe of none
};

}  // namespace anyshape
#pragma GCC visibility pop

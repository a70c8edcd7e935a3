// The identity of an object that has a name of its own: a loss.
#pragma once
#include <anyshape/stateful.h>

#include <string>
#include <utility>

namespace anyshape {

class NamedIdentity final : public Identity {
 public:
  NamedIdentity(std::string kind, std::string name) : Identity(std::move(kind)), name_(std::move(name)) {}
  std::string title() const override { return name_; }

 private:
  std::string name_;
};

}  // namespace anyshape

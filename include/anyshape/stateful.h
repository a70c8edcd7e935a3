// Objects with an identity: a trace holds them as they are, and another object, or the same one after a change, is another trace.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

// What a trace knows of such an object: which one it is, and whether it is still the same inside.
class Identity {
 public:
  explicit Identity(std::string kind);  // what reports call it: "model", "optimizer"
  virtual ~Identity();
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  const std::string& kind() const { return kind_; }
  uint64_t id() const { return id_; }  // never given to another object of the process
  // Changes with everything a trace depends on but the values of variables: structure, trainability, options. What holds other objects
  // adds their versions to its own.
  virtual uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void changed() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::string kind_;
  uint64_t id_;
  std::atomic<uint64_t> version_{0};
};

// A handle on such an object; a copy is the same object. Models and optimizers derive from it, and so may classes of the user's own that
// are arguments of functions.
class Stateful {
 public:
  const Identity& identity() const { return *identity_; }

 protected:
  explicit Stateful(std::string kind) : identity_(std::make_shared<Identity>(std::move(kind))) {}
  explicit Stateful(std::shared_ptr<Identity> identity) : identity_(std::move(identity)) {}
  void changed() { identity_->changed(); }

 private:
  std::shared_ptr<Identity> identity_;
};

}  // namespace anyshape
#pragma GCC visibility pop

// Objects with an identity: a trace holds them as they are, and another object, or the same one after a change, is another trace.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// What a trace knows of such an object: which one it is, and whether it is still the same inside.
class Identity {
 public:
  explicit Identity(std::string kind);  ///< what reports call it: "model", "optimizer"
  virtual ~Identity();
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  const std::string& kind() const { return kind_; }  ///< as given to the constructor
  virtual std::string title() const { return {}; }   ///< which of its kind it is, for reports: "huber"; none: its number says it
  uint64_t id() const { return id_; }                ///< never given to another object of the process
  /// Changes with everything a trace depends on but the values of variables: structure, trainability, options. What holds other objects
  /// adds their versions to its own.
  virtual uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void changed() { version_.fetch_add(1, std::memory_order_relaxed); }  ///< makes another version
  using Facts = std::vector<std::pair<std::string, std::string>>;
  /// What the version stands for, as names and values: reports say by them what changed. None: they give the version's number.
  virtual Facts facts() const { return {}; }

 private:
  std::string kind_;
  uint64_t id_;
  std::atomic<uint64_t> version_{0};
};

/// A handle on such an object; a copy is the same object. Models, optimizers, losses, metrics and datasets derive from it, and so may classes
/// of the user's own that are arguments of functions.
class Stateful {
 public:
  const Identity& identity() const { return *identity_; }  ///< shared by all copies

 protected:
  explicit Stateful(std::string kind) : identity_(std::make_shared<Identity>(std::move(kind))) {}
  explicit Stateful(std::shared_ptr<Identity> identity) : identity_(std::move(identity)) {}
  void changed() { identity_->changed(); }  ///< makes another version: the next call with it traces anew

 private:
  std::shared_ptr<Identity> identity_;
};

}  // namespace anyshape
#pragma GCC visibility pop

// Attributes of an op call, type-erased. An op's attribute struct lists its fields once, in `visit`; hashing, comparing, printing, parsing
// and replacing sizes are visitors over that list.
#pragma once
#include <anyshape/dtype.h>
#include <anyshape/shape.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

namespace graph {
class Graph;
}
using RegionGraph = std::shared_ptr<graph::Graph>;  // a graph inside an op: a branch, the body of a loop

// Called once per field, in declaration order. Overloads that a visitor has no use for fall through to nothing.
class AttrVisitor {
 public:
  virtual ~AttrVisitor() = default;
  virtual void operator()(std::string_view, bool&) {}
  virtual void operator()(std::string_view, int64_t&) {}
  virtual void operator()(std::string_view, double&) {}
  virtual void operator()(std::string_view, Dtype&) {}
  virtual void operator()(std::string_view, Dim&) {}
  virtual void operator()(std::string_view, Shape&) {}
  virtual void operator()(std::string_view, std::vector<int64_t>&) {}
  virtual void operator()(std::string_view, std::vector<Dim>&) {}
  virtual void operator()(std::string_view, RegionGraph&) {}
};

// Random ops have a field `stream`: which of a trace's sequences of random numbers they draw from. A trace counts them as they are called;
// what is computed again, for a gradient, draws the same numbers again.
inline constexpr int64_t no_stream = -1;

class Attrs {
 public:
  Attrs() = default;
  template <class A>
  Attrs(A attrs) : model_(std::make_shared<Model<A>>(std::move(attrs))) {}

  bool empty() const { return model_ == nullptr; }
  template <class A>
  const A& as() const {
    return static_cast<const Model<A>&>(*model_).value;
  }
  void visit(AttrVisitor& visitor) const;  // reads; the visitor must not write
  // A copy whose fields the visitor has written.
  Attrs rewritten(AttrVisitor& writer) const;
  // A copy with every size replaced.
  Attrs map_dims(const std::function<Dim(const Dim&)>& replace) const;
  // All fields as bytes that are equal exactly for equal attributes (sizes by expression).
  void append_key(std::string& key) const;
  // As append_key, but sizes count as data: their values go to `sizes` and the key says only that they are there.
  void append_key_without_sizes(std::string& key, std::vector<int64_t>& sizes) const;
  int64_t stream() const;  // no_stream where there is none
  Attrs with_stream(int64_t stream) const;
  std::string to_string() const;  // "axes=[1], keep_dims=false"; "" where there are none

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void visit(AttrVisitor& visitor) = 0;
    virtual std::shared_ptr<Base> clone() const = 0;
  };
  template <class A>
  struct Model final : Base {
    explicit Model(A attrs) : value(std::move(attrs)) {}
    void visit(AttrVisitor& visitor) override { value.visit(visitor); }
    std::shared_ptr<Base> clone() const override { return std::make_shared<Model>(value); }
    A value;
  };
  std::shared_ptr<Base> model_;
};

}  // namespace anyshape

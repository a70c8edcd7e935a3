// What stands behind a name of an ONNX graph while it is walked: a tensor; whole numbers that are sizes, of which nothing is computed while the
// model runs; a sequence; or nothing, as an optional input that is left out.
#pragma once
#include "onnx/element_type.h"

#include <anyshape/dim.h>
#include <anyshape/shape.h>
#include <anyshape/tensor.h>

#include <memory>
#include <optional>
#include <vector>

namespace anyshape::onnx {

class Value {
 public:
  enum class Kind : uint8_t { Nothing, Tensor, Sizes, Sequence };

  Value() = default;
  Value(Tensor tensor);
  Value(Tensor tensor, ElementType type);
  // Known when the model is loaded: what is computed of constants alone is computed once.
  static Value constant(Tensor tensor, ElementType type = ElementType::Undefined);
  // Numbers of rank 1, or one of rank 0: expressions over the sizes of the model's inputs.
  static Value sizes(std::vector<Dim> numbers, ElementType type = ElementType::Int64);
  static Value size(Dim number, ElementType type = ElementType::Int64);
  // A tensor [batch, space..., channels] for what ONNX calls [batch, channels, space...]: convolutions take and give it, so nothing is moved between them.
  static Value image(Tensor channels_last, ElementType type = ElementType::Undefined);
  // A weight [taps..., in, out] for what ONNX calls [out, in, taps...]: transposed when the model is loaded.
  static Value kernel(Tensor turned);
  static Value sequence(std::vector<Value> elements);

  Kind kind() const { return kind_; }
  bool is_given() const { return kind_ != Kind::Nothing; }
  bool is_sizes() const { return kind_ == Kind::Sizes; }
  bool is_image() const { return layout_ == Layout::Image; }
  bool is_constant() const { return is_constant_; }  // a tensor, sizes that are numbers, or a sequence of such
  ElementType type() const { return type_; }

  Shape shape() const;  // in ONNX's order of axes
  int rank() const { return shape().rank(); }
  Dtype dtype() const;
  Tensor tensor() const;                          // in ONNX's order of axes; sizes become a tensor here
  const Tensor& held() const { return tensor_; }  // as it is: channels last where is_image()
  Tensor kernel() const;                          // [taps..., in, out]
  Tensor image() const;                           // channels last, rank 3 to 5
  // Whole numbers of rank 0 or 1 that are known: sizes, or the elements of a tensor that is no value of a trace. Others have none.
  std::optional<std::vector<Dim>> known_sizes() const;
  const std::vector<Dim>& numbers() const { return numbers_; }  // of sizes
  bool is_scalar() const { return is_scalar_; }                 // of sizes: rank 0
  const std::vector<Value>& elements() const { return *elements_; }

  Value with_type(ElementType type) const;
  Value as_constant() const;

 private:
  Kind kind_ = Kind::Nothing;
  ElementType type_ = ElementType::Undefined;
  bool is_constant_ = false, is_scalar_ = false;
  enum class Layout : uint8_t { Plain, Image, Kernel } layout_ = Layout::Plain;
  Tensor tensor_;
  std::vector<Dim> numbers_;
  std::shared_ptr<const std::vector<Value>> elements_;
};

}  // namespace anyshape::onnx

// What bytes may decode to: one entry per op.
#pragma once
#include "check/fuzz_bytes.h"

#include <functional>
#include <span>
#include <vector>

namespace anyshape::check {

struct FuzzCall {
  std::vector<Tensor> tensors;
  std::function<std::vector<Tensor>(std::span<const Tensor>)> run;
};

struct FuzzOp {
  const char* name;
  FuzzCall (*decode)(FuzzBytes& bytes);
};

const std::vector<FuzzOp>& fuzz_table();
std::vector<FuzzOp> segment_fuzz_ops();  // those of them on rows of unequal length
std::vector<FuzzOp> image_fuzz_ops();    // and those on images

// A call of a sample, and so of any op there is, with inputs that are mostly as the sample wants them.
FuzzCall decode_sample(FuzzBytes& bytes);

}  // namespace anyshape::check

// error: anyshape: tensors have no operator &&; write logical_and\(a, b\)
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

int main() {
  const Tensor x = as::ones({2});
  return as::any(x > 0 && x < 2).item<bool>() ? 0 : 1;
}

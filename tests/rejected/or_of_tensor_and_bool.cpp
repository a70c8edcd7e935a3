// error: anyshape: tensors have no operator ..; write logical_or\(a, b\)
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

int main() {
  const bool always = true;
  if (always || as::ones({2}) > 0) return 0;
  return 1;
}

// error: anyshape: tensors have no operator &&; write logical_and\(a, b\)
#include <anyshape/anyshape.h>
namespace as = anyshape;

int main() {
  const as::Variable is_open(as::ones({1})), is_free(as::ones({1}));
  return is_open && is_free ? 0 : 1;
}

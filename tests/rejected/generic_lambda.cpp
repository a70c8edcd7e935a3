// error: the callable.s parameter types must be written out \(Tensor x, not auto x\)
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

int main() {
  auto twice = as::function([](auto x) { return x + x; }, {.name = "twice"});
  twice(as::ones({2}));
}

// error: only an object with an identity \(Variable, Model, Optimizer\) is taken as T&
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

int main() {
  auto twice = as::function([](Tensor& x) { x = x + x; }, {.name = "twice"});
  Tensor x = as::ones({2});
  twice(x);
}

// error: a parameter or result of the callable has a type that cannot pass through a traced function
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

int main() {
  auto twice = as::function([](Tensor* x) { return *x + *x; }, {.name = "twice"});
  Tensor x = as::ones({2});
  twice(&x);
}

// error: no match
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

int main() {
  auto twice = as::function([](Tensor x) { return x + x; }, {.name = "twice"});
  twice(as::ones({2}), as::ones({2}));
}

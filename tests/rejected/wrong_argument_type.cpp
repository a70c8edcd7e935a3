// error: no match
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

int main() {
  auto twice = as::function([](Tensor x, float scale) { return x * scale; }, {.name = "twice"});
  twice(as::ones({2}), "two");
}

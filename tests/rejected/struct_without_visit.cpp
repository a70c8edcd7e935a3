// error: a parameter or result of the callable has a type that cannot pass through a traced function
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

struct Unlisted {
  Tensor x;
};

int main() {
  auto twice = as::function([](std::vector<Unlisted> all) { return all[0].x + all[0].x; }, {.name = "twice"});
  twice(std::vector<Unlisted>{{as::ones({2})}});
}

// error: a struct with base classes, C arrays, constant members, constructors or more than 24 fields lists them with visit\(\)
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

struct Unlisted {
  explicit Unlisted(const Tensor& given) : x(given) {}
  Tensor x;
};

int main() {
  auto twice = as::function([](std::vector<Unlisted> all) { return all[0].x + all[0].x; }, {.name = "twice"});
  twice(std::vector<Unlisted>{Unlisted(as::ones({2}))});
}

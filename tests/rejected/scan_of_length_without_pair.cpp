// error: anyshape::scan: the body returns std::pair\(next carry, outputs\)
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

int main() {
  as::scan([](const Tensor& total) { return total + 1; }, as::zeros({}), {.length = 3});
}

// error: anyshape::scan: the body returns std::pair\(next carry, outputs\)
#include <anyshape/anyshape.h>
namespace as = anyshape;
using as::Tensor;

int main() {
  const auto [last, all] = as::scan([](const Tensor& total, const Tensor& x) { return total + x; }, as::zeros({}), as::ones({3}));
  return last.item<int>() + all.rank();
}

// Computes something, and was compiled with the headers of the library it runs with.
#include <anyshape/anyshape.h>
#include <anyshape/version.h>

#include <iostream>

namespace as = anyshape;

int main() {
  auto total = as::function([](as::Tensor x) { return as::sum(x); }, {.name = "total"});
  const bool is_right = total(as::ones({3, 4})).item<float>() == 12 && total(as::ones({5})).item<float>() == 5;
  std::cout << "anyshape " << as::version() << (is_right ? "" : ": wrong") << "\n";
  return is_right && as::version() == ANYSHAPE_VERSION ? 0 : 1;
}

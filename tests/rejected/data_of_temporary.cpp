// error: .*deleted
#include <anyshape/anyshape.h>
namespace as = anyshape;

int main() {
  const auto elements = as::ones({2}).data<float>();
  return static_cast<int>(elements[0]);
}

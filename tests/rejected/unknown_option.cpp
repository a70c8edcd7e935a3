// error: .*(field designator 'beta1' does not refer to any field in type|has no non-static data member named .*beta1)
#include <anyshape/anyshape.h>
namespace as = anyshape;

int main() {
  as::AdamOptions options{.learning_rate = 0.01, .beta1 = 0.8};
  return as::adam(options).defined() ? 0 : 1;
}

// error: (ISO C.. requires field designators to be specified in declaration order; field 'beta_1'|designator order for field .*learning_rate)
#include <anyshape/anyshape.h>
namespace as = anyshape;

int main() { return as::adam({.beta_1 = 0.8, .learning_rate = 0.01}).defined() ? 0 : 1; }

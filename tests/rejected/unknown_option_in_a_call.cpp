// error: (field designator 'beta1' does not refer to any field in type 'AdamOptions'; did you mean 'beta_1'|could not convert .* to .*anyshape::AdamOptions)
#include <anyshape/anyshape.h>
namespace as = anyshape;

int main() { return as::adam({.learning_rate = 0.01, .beta1 = 0.8}).defined() ? 0 : 1; }

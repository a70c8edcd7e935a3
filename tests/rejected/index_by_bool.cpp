// error: no match|no viable
#include <anyshape/anyshape.h>
namespace as = anyshape;

int main() { return as::ones({2})[true].rank(); }

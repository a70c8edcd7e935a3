// error: .*(discards qualifiers|no matching (member )?function for call to|not marked const)
#include <anyshape/anyshape.h>
namespace as = anyshape;

int main() {
  const as::Variable weight(as::ones({2}));
  const as::Optimizer optimizer = as::sgd();
  optimizer.apply({as::ones({2})}, {weight});
}

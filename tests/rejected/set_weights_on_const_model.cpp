// error: .*(discards qualifiers|no matching (member )?function for call to|not marked const)
#include <anyshape/anyshape.h>
namespace as = anyshape;

int main() {
  const as::Sequential model(as::Dense(1));
  model.set_weights({as::ones({1, 1})});
}

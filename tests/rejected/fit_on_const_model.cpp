// error: .*(discards qualifiers|no matching (member )?function for call to)
#include <anyshape/anyshape.h>
namespace as = anyshape;

int main() {
  const as::Sequential model(as::Dense(1));
  model.predict(as::ones({2, 3}));
  model.fit(as::ones({2, 3}), as::ones({2, 1}));
}

// Destructors of static objects compute: eager ops, compiled functions, a first compile. They run after the objects of the main thread are gone.
#include <anyshape/anyshape.h>

#include <cstdio>
#include <optional>

#include <unistd.h>

namespace as = anyshape;
using as::Tensor;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  _exit(1);
}

struct Last {
  ~Last() {
    require(as::sum(as::ones({300, 300})).item<float>() == 90000, "an eager op");
    require(as::matmul(as::ones({3, 4}), as::ones({4, 5})).shape() == as::Shape({3, 5}), "a product");
    require((*twice)(as::ones({3})).to_vector<float>() == std::vector<float>{2, 2, 2}, "a compiled function");
    auto fresh = as::function([](Tensor x) { return as::sum(as::softmax(x * 3.0f)); }, {.name = "fresh"});
    require(as::all_close(fresh(as::ones({2, 5})), as::full({}, 2.0f)), "a function compiled at the end");
    as::GradientTape tape;
    const Tensor loss = as::sum(as::square(*weight));
    require(as::all_equal(tape.gradient(loss, {*weight})[0], as::full({4}, 2.0f)), "a gradient");
    weight->assign_add(as::ones({4}));
    try {
      as::matmul(as::ones({3, 4}), as::ones({3, 4}));
      require(false, "a wrong call that is not refused");
    } catch (const as::ShapeError&) {
    }
    require(!as::functions().empty(), "the list of functions");
    std::printf("computed at the end\n");
  }
  std::optional<as::Function<Tensor(Tensor)>> twice;
  std::optional<as::Variable> weight;
};
Last last;

}  // namespace

int main() {
  last.twice = as::function([](Tensor x) { return x * 2.0f; }, {.name = "twice"});
  (*last.twice)(as::ones({3}));
  as::matmul(as::ones({300, 40}), as::ones({40, 50}));
  last.weight.emplace(as::ones({4}));
  return 0;
}

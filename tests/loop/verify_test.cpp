// The verifier: a good kernel broken in one place each time, and the rule that says so.
#include "loop/verify.h"

#include <anyshape/error.h>
#include <gtest/gtest.h>

#include <functional>

#include "loop/text.h"

namespace anyshape::loop {
namespace {

// body: 0 Size n, 1 Constant 0, then as written
const char* const good = R"(
  kernel good(n) {
    in x: f32
    out y: f32
    inout k: i64
    parallel r in 0 .. n grain 1 {
      s = reduce sum i in 0 .. n { yield x[i] }
      vector i in 0 .. n { y[i] = x[i] * s }
    }
    c = for t in 0 .. n carry (a = 0) { next a + t }
    k[0] = c
    if c < n { k[1] = c }
    call work(x[0]; n)
  })";

Instruction& find(Block& block, Op op, int skip = 0) {
  for (Instruction& instruction : block) {
    if (instruction.op == op && skip-- == 0) return instruction;
  }
  throw std::logic_error("no such instruction");
}

void expect_refused(const std::function<void(Kernel&)>& damage, const std::string& expected) {
  Kernel kernel = parse(good);
  damage(kernel);
  try {
    verify(kernel);
    ADD_FAILURE() << "accepted; expected: " << expected;
  } catch (const InternalError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(expected), std::string::npos) << text;
    EXPECT_EQ(text.find("kernel good: "), 0U) << text;
  }
}

Instruction& parallel(Kernel& k) { return find(k.body, Op::For); }
Instruction& serial(Kernel& k) { return find(k.body, Op::For, 1); }
Instruction& reduce(Kernel& k) { return find(parallel(k).body, Op::Reduce); }
Instruction& vector(Kernel& k) { return find(parallel(k).body, Op::For); }
Instruction& product(Kernel& k) { return find(vector(k).body, Op::Multiply); }

TEST(Verify, accepts_a_good_kernel) { EXPECT_NO_THROW(verify(parse(good))); }

TEST(Verify, names_are_different) {
  expect_refused([](Kernel& k) { k.buffers[1].name = "x"; }, "two are named x");
  expect_refused([](Kernel& k) { k.dims.push_back("n"); }, "two are named n");
}

TEST(Verify, values_are_visible_and_defined_once) {
  expect_refused([](Kernel& k) { product(k).args[0] = Value{999}; }, "Multiply (value");
  expect_refused([](Kernel& k) { product(k).args[0] = Value{}; }, "uses value -1");
  expect_refused([](Kernel& k) { serial(k).args[0] = reduce(k).index; }, "which is not visible here");
  expect_refused([](Kernel& k) { find(k.body, Op::Store).args[1] = serial(k).carried[0]; }, "which is not visible here");
  expect_refused([](Kernel& k) { std::swap(k.body.front(), k.body.back()); }, "which is not visible here");
  expect_refused([](Kernel& k) { k.body.push_back(k.body[0]); }, "a second time");
}

TEST(Verify, types_follow_the_rules) {
  expect_refused([](Kernel& k) { product(k).op = Op::FloorDivide; }, "expected integers");
  expect_refused([](Kernel& k) { product(k).op = Op::Less; }, "a result of type f32; expected b8");
  expect_refused([](Kernel& k) { product(k).args.resize(1); }, "1 operands; expected 2");
  expect_refused([](Kernel& k) { product(k).type = Dtype::f64; }, "a result of type f64; expected f32");
  expect_refused([](Kernel& k) { product(k).type = Dtype::bf16; }, "bf16");
  expect_refused([](Kernel& k) { k.types[static_cast<size_t>(product(k).results[0].id)] = Dtype::f64; }, "a result of type f64");
  expect_refused([](Kernel& k) { k.buffers[0].type = Dtype::f16; }, "the buffer's type");
  expect_refused([](Kernel& k) { find(k.body, Op::Constant).type = Dtype::f16; }, "f16");
  expect_refused([](Kernel& k) { find(k.body, Op::Size).integer = 1; }, "expected one of 1 dims");
  expect_refused(
      [](Kernel& k) {
        Instruction& constant = find(k.body, Op::Constant);
        constant.type = Dtype::b8;
        constant.integer = 2;
      },
      "a number that b8 cannot hold");
}

TEST(Verify, memory_is_used_as_declared) {
  expect_refused([](Kernel& k) { find(vector(k).body, Op::Store).buffer = 0; }, "writes buffer x, which is only read");
  expect_refused([](Kernel& k) { find(vector(k).body, Op::Store).buffer = 2; }, "a stored value of type f32; expected i64");
  expect_refused([](Kernel& k) { find(vector(k).body, Op::Load).buffer = 9; }, "buffer 9; expected one of 3");
  expect_refused([](Kernel& k) { find(vector(k).body, Op::Load).buffer = 2; }, "the buffer's type");
  expect_refused([](Kernel& k) { find(vector(k).body, Op::Load).args[0] = reduce(k).results[0]; }, "an offset of type f32");
}

TEST(Verify, loops_have_what_their_kind_has) {
  expect_refused([](Kernel& k) { parallel(k).grain = {}; }, "a grain on Parallel loops only");
  expect_refused([](Kernel& k) { vector(k).grain = vector(k).args[1]; }, "a grain on Parallel loops only");
  expect_refused([](Kernel& k) { vector(k).reverse = true; }, "of Serial loops only");
  expect_refused([](Kernel& k) { vector(k).args.push_back(vector(k).args[0]); }, "of Serial loops only");
  expect_refused([](Kernel& k) { serial(k).yields.clear(); }, "as many initial, carried, next and resulting values");
  expect_refused([](Kernel& k) { serial(k).args.resize(1); }, "begin and end");
  expect_refused([](Kernel& k) { vector(k).args[0] = reduce(k).results[0]; }, "begin of type f32");
  expect_refused([](Kernel& k) { reduce(k).combine[0] = Combine::All; }, "all of f32; expected b8");
  expect_refused([](Kernel& k) { reduce(k).combine.clear(); }, "as many combinations");
  expect_refused([](Kernel& k) { vector(k).otherwise = Block(1); }, "a second body");
  expect_refused([](Kernel& k) { product(k).body = Block(1); }, "a body");
  expect_refused([](Kernel& k) { find(k.body, Op::If).args[0] = Value{0}; }, "a condition of type i64");
  expect_refused([](Kernel& k) { find(k.body, Op::Call).name.clear(); }, "expected a name");
  expect_refused([](Kernel& k) { find(k.body, Op::Call).buffers[0] = 5; }, "buffer 5");
  expect_refused([](Kernel& k) { find(k.body, Op::Call).args.clear(); }, "an offset for each buffer");
}

TEST(Verify, loops_nest_as_vectors_can) {
  const auto nest = [](const std::string& statement) {
    try {
      parse("kernel good(n) { in x: f32 in k: i64 out y: f32 inout z: i64 " + statement + " }");
    } catch (const FormatError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto refused = [&](const std::string& statement, const std::string& expected) {
    EXPECT_NE(nest(statement).find(expected), std::string::npos) << statement << " -> " << nest(statement);
  };
  refused("vector i in 0 .. n { vector j in 0 .. n { } }", "Vector in another");
  refused("vector i in 0 .. n { parallel j in 0 .. n grain 1 { } }", "Parallel in another");
  refused("parallel i in 0 .. n grain 1 { parallel j in 0 .. n grain 1 { } }", "Parallel in another");
  refused("elements i in 0 .. n { vector j in 0 .. n { } }", "Vector in another");
  refused("vector i in 0 .. n { elements j in 0 .. n { } }", "Elements in another");
  refused("elements i in 0 .. n { each j in 0 .. n work 1 { } }", "Each in another");
  refused("each i in 0 .. n work 1 { ranges r, j .. l of 1, n once work 1 { } }", "Ranges in another");
  refused("parallel i in 0 .. n grain 1 { each j in 0 .. n work 1 { } }", "Each in another");
  refused("elements i in 0 .. n { runs j .. l in 0 .. n work 1 { } }", "Runs in another");
  refused("each i in 0 .. n work x[0] { }", "expected i64");
  refused("vector i in 0 .. n { s = reduce sum j in 0 .. n { yield x[j] } y[i] = s }", "Reduce (value");
  refused("vector i in 0 .. n { for j in 0 .. i { } }", "bounds that differ between the lanes");
  refused("vector i in 0 .. n { for j in 0 .. k[i] { } }", "bounds that differ between the lanes");
  refused("vector i in 0 .. n { if i < 3 { y[i] = 1 } }", "expected Select");
  refused("vector i in 0 .. n { call work(x[0]) }", "Call: in a Vector");
  EXPECT_EQ(nest("vector i in 0 .. n { s = for j in 0 .. k[0] carry (a = 0.0) { next a + x[i + j] } y[i] = s }"), "");
  EXPECT_EQ(nest("each i in 0 .. n work 1 { runs j .. l in 0 .. n work 1 { elements k in j .. l { y[k] = 1 } } }"), "");
  EXPECT_EQ(nest("s = reduce sum j in 0 .. n { y[j] = 1 yield x[j] }"), "");
  EXPECT_EQ(nest("vector i in 0 .. n { if k[0] < 3 { y[i] = 1 } }"), "");
  EXPECT_EQ(nest("for t in 0 .. n { parallel i in 0 .. n grain 1 { s = reduce sum j in 0 .. i { yield x[j] } y[i] = s } }"), "");
}

}  // namespace
}  // namespace anyshape::loop

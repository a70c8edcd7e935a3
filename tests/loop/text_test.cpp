// Kernel text: what prints is read back as the same kernel, and bad text is refused with its line.
#include "loop/text.h"

#include <anyshape/error.h>
#include <gtest/gtest.h>

#include <bit>

#include "loop/build.h"
#include "loop/math.h"

namespace anyshape::loop {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

void expect_round_trip(const Kernel& kernel) {
  const std::string once = print(kernel);
  EXPECT_EQ(print(parse(once)), once);
}

TEST(Text, prints_small_expressions_where_they_are_used) {
  const Kernel kernel = parse(R"(
    kernel add_bias(rows, cols) {
      in x: f32
      in bias: f32
      out y: f32
      parallel r in 0 .. rows grain 4 {
        vector c in 0 .. cols { y[r * cols + c] = max(x[r * cols + c] + bias[c], 0) }
      }
    })");
  EXPECT_EQ(print(kernel),
            "kernel add_bias(rows, cols) {\n"
            "  in x: f32\n"
            "  in bias: f32\n"
            "  out y: f32\n"
            "  parallel i0 in 0 .. rows grain 4 {\n"
            "    v1 = i0 * cols\n"
            "    vector i2 in 0 .. cols {\n"
            "      v3 = v1 + i2\n"
            "      y[v3] = max(x[v3] + bias[i2], 0.0)\n"
            "    }\n"
            "  }\n"
            "}\n");
  expect_round_trip(kernel);
}

TEST(Text, round_trips_every_statement) {
  expect_round_trip(parse(R"(
    kernel everything(m, "batch size", v1) {
      in a: f32
      in b: f64
      in k: i32
      in c: b8
      out y: f32
      inout z: i64
      out "odd name": u8
      parallel r in 0 .. m grain v1 // 2 {
        s, t = reduce sum, max i in r .. m { yield a[i] * 2, b[i] }
        h, n = for t1 in reverse 0 .. "batch size" carry (p = 0.5f, q = 0) {
          next p * a[t1] - s, q + t1
        }
        for u in reverse 0 .. m { z[u] = z[u] + n }
        if (r < 5) & (n >= 3) { y[r] = h } else if c[r] { y[r] = -h } else { y[r] = nan }
        call product_f32(a[r], y[r * 2]; 0, -1, m)
        "odd name"[r] = u8(k[r] >>> 3 << 1 >> 2)
        all_true, some = reduce all, any i in 0 .. m { yield c[i], !c[i] }
        if all_true ^ some { z[0] = i64(select(some, b[0], f64(0.1))) }
      }
      each r in 0 .. m work v1 * 2 { elements i in r .. r + 1 { y[i] = 2 } }
      ranges r, i .. j of m, v1 scattered work 3 { elements e in i .. j { z[r * v1 + e] = i } }
      runs i .. j in 1 .. m work v1 { z[i] = j }
      vector i in 0 .. m {
        w = for j in 0 .. 3 carry (e = a[i]) { next fma(e, e, -inf) }
        y[i] = sqrt(abs(floor(w) + ceil(w) * trunc(w) / round(w))) + f32(bitcast_i32(w) % 7 ^ ~k[i] | 0x10)
      }
    })"));
}

TEST(Text, round_trips_expanded_functions) {
  expect_round_trip(parse(R"(
    kernel functions(n) {
      in x: f32
      in d: f64
      out y: f32
      out e: f64
      vector i in 0 .. n { y[i] = tanh(exp(x[i])) + sigmoid(log(x[i])); e[i] = tanh(exp(d[i])) + sigmoid(log(d[i])) }
    })"));
  Builder b("random");
  const int32_t y = b.buffer("y", Dtype::f32, Access::Out);
  const int32_t z = b.buffer("z", Dtype::f64, Access::Out);
  b.vector_for(b.integer(0), b.size("n"), [&](Value i) {
    const RandomWords words = philox(b, b.size("key"), i, b.integer(0));
    b.store(y, i, normal_from_words(b, words, Dtype::f32));
    b.store(z, i, normal_from_words(b, words, Dtype::f64));
  });
  expect_round_trip(b.finish());
}

TEST(Text, constants_keep_their_bits) {
  const std::vector<double> numbers = {0.1, -0.0, 1e-45, 3.4028234663852886e38, 1.0 / 3.0, 16777217.0, 5e-324, 1e300, 123456789.123456789};
  Builder b("numbers");
  const int32_t y = b.buffer("y", Dtype::f32, Access::Out);
  const int32_t z = b.buffer("z", Dtype::f64, Access::Out);
  const int32_t k = b.buffer("k", Dtype::i64, Access::Out);
  for (double number : numbers) {
    b.store(y, b.integer(0), b.constant(Dtype::f32, number));
    b.store(z, b.integer(0), b.constant(Dtype::f64, number));
  }
  b.store(k, b.integer(0), b.integer(INT64_MIN));
  b.store(k, b.integer(0), b.integer(INT64_MAX));
  const Kernel kernel = b.finish();
  const Kernel again = parse(print(kernel));
  ASSERT_EQ(kernel.body.size(), again.body.size());
  for (size_t i = 0; i < kernel.body.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint64_t>(kernel.body[i].number), std::bit_cast<uint64_t>(again.body[i].number));
    EXPECT_EQ(kernel.body[i].integer, again.body[i].integer);
    EXPECT_EQ(kernel.body[i].type, again.body[i].type);
  }
}

TEST(Text, operators_bind_as_in_the_grammar) {
  const auto same = [](const std::string& a, const std::string& b) {
    const auto kernel = [](const std::string& value) { return print(parse("kernel f(a, b, c) { out y: i64  out t: b8 " + value + " }")); };
    EXPECT_EQ(kernel(a), kernel(b)) << a;
  };
  same("y[0] = a - b - c", "y[0] = (a - b) - c");
  same("y[0] = a + b * c", "y[0] = a + (b * c)");
  same("y[0] = a << b + c", "y[0] = a << (b + c)");
  same("y[0] = a | b ^ c & a", "y[0] = a | (b ^ (c & a))");
  same("t[0] = a & b == c", "t[0] = (a & b) == c");
  same("t[0] = a > b", "t[0] = b < a");
  same("t[0] = a >= b", "t[0] = b <= a");
  same("y[0] = -a * b", "y[0] = (-a) * b");
  EXPECT_NE(print(parse("kernel f(a, b, c) { out y: i64 y[0] = a - (b - c) }")),
            print(parse("kernel f(a, b, c) { out y: i64 y[0] = a - b - c }")));
}

TEST(Text, refuses_bad_text_and_names_the_line) {
  const std::string head = "kernel f(n) {\n  in x: f32\n  out y: f32\n  ";
  const std::pair<std::string, std::string> cases[] = {
      {"kernl f() {}", "line 1"},
      {"kernel f(n", "expected )"},
      {head + "y[0] = q\n}", "line 4: q has no value here"},
      {head + "y[0] = x[0] + 1.5 $\n}", "line 4: a character with code 36"},
      {head + "y[0] = z[0]\n}", "line 4: no buffer is named z"},
      {head + "x[0] = 1\n}", "buffer x is only read"},
      {head + "y[0] = n\n}", "a value of type i64; expected f32"},
      {head + "a = n\n  a = n\n}", "line 5: a has a value already"},
      {head + "a = 1.5 + n\n}", "1.5 is no number here; expected an integer of type i64"},
      {head + "a = x[0] + n\n}", "operands of types f32 and i64"},
      {head + "a = 12q\n}", "12q is no number"},
      {head + "a = sine(n)\n}", "sine is no function"},
      {head + "a = min(n)\n}", "min has 1 arguments; expected 2"},
      {head + "a = 1 < n < 2\n}", "no second comparison"},
      {head + "a, b = n\n}", "for or reduce"},
      {head + "a = reduce mean i in 0 .. n { yield x[i] }\n}", "expected sum, sum_to, product"},
      {head + "a = reduce sum i in 0 .. n { }\n}", "0 values for 1 combinations"},
      {head + "a = for i in 0 .. n carry (c = 0.0) { next 1 }\n}", "For: a value of type i64; expected f32"},
      {head + "vector i in 0 .. n { vector j in 0 .. n { } }\n}", "Vector in another Vector"},
      {head + "for i in x[0] .. n { }\n}", "the begin of a range of type f32; expected i64"},
      {head + "parallel i in 0 .. n { }\n}", "grain"},
      {head + "a = i32(3000000000)\n}", "range of i32"},
      {head + "in late: f32\n}}", "expected nothing after"},
      {head + "y[0] = 1 = 2\n}", "expected a statement"},
      {"kernel f() { in x: f31 }", "expected a dtype"},
      {"kernel f() { in x: f32 in x: f32 }", "declared a second time"},
      {"kernel f() {", "the end of the text"},
      {"kernel \"f", "a quoted name does not end"},
  };
  for (const auto& [text, expected] : cases) EXPECT_NE(refusal(text).find(expected), std::string::npos) << text << "\n-> " << refusal(text);
  EXPECT_NE(refusal(head + "y[0] = " + std::string(100000, '(')).find("less nesting"), std::string::npos);
  EXPECT_NE(refusal(head + std::string(100000, '-')).find("expected a statement"), std::string::npos);
}

}  // namespace
}  // namespace anyshape::loop

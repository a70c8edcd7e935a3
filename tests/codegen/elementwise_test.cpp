// Every pure instruction on every type it takes: machine code against the interpreter, as vector loops and as scalar loops.
#include "codegen/run_both.h"
#include "loop/rules.h"

namespace anyshape::codegen {
namespace {

using loop::Access;
using loop::Builder;
using loop::Op;
using loop::Value;

constexpr Dtype every_type[] = {Dtype::b8, Dtype::u8, Dtype::i32, Dtype::i64, Dtype::f32, Dtype::f64};

using Element = std::function<Value(Builder&, std::span<const Value>)>;

// out[i] = element(in0[i], in1[i], ...), by vector lanes and one by one.
void check(const std::string& name, std::vector<Dtype> inputs, Dtype output, const Element& element, std::span<const int64_t> sizes) {
  for (const bool vector : {true, false}) {
    Builder b(name + (vector ? "_vector" : "_scalar"));
    std::vector<int32_t> buffers;
    for (size_t i = 0; i < inputs.size(); ++i) buffers.push_back(b.buffer("in" + std::to_string(i), inputs[i], Access::In));
    const int32_t out = b.buffer("out", output, Access::Out);
    const auto body = [&](Value index) {
      std::vector<Value> args;
      for (const int32_t buffer : buffers) args.push_back(b.load(buffer, index));
      b.store(out, index, element(b, args));
    };
    if (vector) {
      b.vector_for(b.integer(0), b.size("n"), body);
    } else {
      b.serial_for(b.integer(0), b.size("n"), body);
    }
    const Compiled compiled(b.finish());
    unsigned seed = 1;
    for (const int64_t n : sizes) {
      std::vector<Memory> memory;
      for (const Dtype input : inputs) memory.push_back(random_memory(input, n, seed++));
      memory.push_back(random_memory(output, n, seed++));
      compiled.run_both(memory, {n});
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

bool is_allowed(Op op, Dtype result, std::vector<Dtype> args) { return loop::broken_rule(op, result, args).empty(); }

const std::vector<int64_t> few_lengths = {0, 1, 15, 16, 17, 63, 64, 65, 300};

TEST(Elementwise, binary_ops_equal_the_interpreter_on_every_type) {
  for (int number = static_cast<int>(Op::Add); number <= static_cast<int>(Op::LessEqual); ++number) {
    const Op op = static_cast<Op>(number);
    for (const Dtype type : every_type) {
      const Dtype result = op >= Op::Equal ? Dtype::b8 : type;
      if (!is_allowed(op, result, {type, type})) continue;
      const std::string name = std::string(loop::name_of(op)) + "_" + std::string(to_string(type));
      check(
          name, {type, type}, result, [&](Builder& b, std::span<const Value> args) { return b.binary(op, args[0], args[1]); }, few_lengths);
    }
  }
}

// A divisor or an amount that is a number takes fewer instructions than one that is found out.
TEST(Elementwise, divisors_and_amounts_that_are_numbers_equal_the_interpreter) {
  for (const Dtype type : {Dtype::u8, Dtype::i32, Dtype::i64}) {
    for (const Op op : {Op::FloorDivide, Op::Modulo, Op::ShiftLeft, Op::ShiftRight, Op::ShiftRightLogical}) {
      for (const int64_t number : {0, 1, 7, 8, 64, -1, -3}) {
        if (type == Dtype::u8 && (number < 0 || number > 255)) continue;
        const std::string name = std::string(loop::name_of(op)) + "_" + std::string(to_string(type)) + "_by_" + std::to_string(number);
        check(
            name, {type}, type, [&](Builder& b, std::span<const Value> args) { return b.binary(op, args[0], b.constant(type, number)); },
            std::vector<int64_t>{65});
      }
    }
  }
}

TEST(Elementwise, unary_ops_equal_the_interpreter_on_every_type) {
  for (int number = static_cast<int>(Op::Negate); number <= static_cast<int>(Op::Not); ++number) {
    const Op op = static_cast<Op>(number);
    for (const Dtype type : every_type) {
      if (!is_allowed(op, type, {type})) continue;
      const std::string name = std::string(loop::name_of(op)) + "_" + std::string(to_string(type));
      check(name, {type}, type, [&](Builder& b, std::span<const Value> args) { return b.unary(op, args[0]); }, few_lengths);
    }
  }
}

TEST(Elementwise, fma_rounds_once) {
  for (const Dtype type : {Dtype::f32, Dtype::f64}) {
    check(
        "fma", {type, type, type}, type, [](Builder& b, std::span<const Value> args) { return b.fma(args[0], args[1], args[2]); },
        few_lengths);
  }
}

TEST(Elementwise, products_and_sums_are_not_contracted) {
  for (const Dtype type : {Dtype::f32, Dtype::f64}) {
    check(
        "multiply_add", {type, type, type}, type,
        [](Builder& b, std::span<const Value> args) { return b.add(b.multiply(args[0], args[1]), args[2]); }, few_lengths);
  }
}

TEST(Elementwise, select_chooses_by_lane) {
  for (const Dtype type : every_type) {
    check(
        "select", {Dtype::b8, type, type}, type,
        [](Builder& b, std::span<const Value> args) { return b.select(args[0], args[1], args[2]); }, few_lengths);
  }
}

TEST(Elementwise, casts_saturate_and_take_nan_to_zero) {
  for (const Dtype from : every_type) {
    for (const Dtype to : every_type) {
      check(
          "cast_" + std::string(to_string(from)) + "_" + std::string(to_string(to)), {from}, to,
          [&](Builder& b, std::span<const Value> args) { return b.cast(args[0], to); }, few_lengths);
    }
  }
}

TEST(Elementwise, bitcasts_keep_bits) {
  for (const Dtype from : every_type) {
    for (const Dtype to : every_type) {
      if (!is_allowed(Op::Bitcast, to, {from})) continue;
      check(
          "bitcast_" + std::string(to_string(from)) + "_" + std::string(to_string(to)), {from}, to,
          [&](Builder& b, std::span<const Value> args) { return b.bitcast(args[0], to); }, few_lengths);
    }
  }
}

TEST(Elementwise, every_length_of_every_block_width) {
  const Element small = [](Builder& b, std::span<const Value> args) { return b.add(args[0], args[1]); };
  const Element large = [](Builder& b, std::span<const Value> args) {
    Value value = args[0];
    for (int i = 0; i < 30; ++i) value = b.add(b.multiply(value, args[1]), args[0]);
    return value;
  };
  for (const Dtype type : {Dtype::u8, Dtype::i32, Dtype::i64, Dtype::f32, Dtype::f64}) {
    check("small", {type, type}, type, small, lengths());
    check("large", {type, type}, type, large, lengths());
  }
  check(
      "logic", {Dtype::b8, Dtype::b8}, Dtype::b8,
      [](Builder& b, std::span<const Value> args) { return b.binary(Op::And, args[0], args[1]); }, lengths());
}

TEST(Elementwise, constants_and_sizes_mix_with_lanes) {
  check(
      "constants", {Dtype::i64}, Dtype::i64,
      [](Builder& b, std::span<const Value> args) {
        const Value scaled = b.multiply(args[0], b.integer(-7));
        return b.add(b.floor_divide(scaled, b.integer(3)), b.binary(Op::Modulo, args[0], b.size("n")));
      },
      lengths());
}

}  // namespace
}  // namespace anyshape::codegen

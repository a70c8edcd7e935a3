// Addresses of every kind in vector loops: unit stride, other strides, reversed, uniform, from an index buffer; loads and stores.
#include "codegen/run_both.h"

namespace anyshape::codegen {
namespace {

using loop::Access;
using loop::Builder;
using loop::Op;
using loop::Value;

constexpr Dtype every_type[] = {Dtype::b8, Dtype::u8, Dtype::i32, Dtype::i64, Dtype::f32, Dtype::f64};

Memory numbers(int64_t count, int64_t (*value)(int64_t i, int64_t count)) {
  Memory memory(Dtype::i64, count);
  for (int64_t i = 0; i < count; ++i) memory.as<int64_t>()[i] = value(i, count);
  return memory;
}

using Address = std::function<Value(Builder&, Value index)>;

// y[to(i)] = x[from(i)], with `factor` elements of x and y per index.
void check_copy(const std::string& name, const Address& from, const Address& to, int64_t factor) {
  for (const Dtype type : every_type) {
    Builder b(name + "_" + std::string(to_string(type)));
    const int32_t x = b.buffer("x", type, Access::In), y = b.buffer("y", type, Access::InOut);
    b.vector_for(b.integer(0), b.size("n"), [&](Value i) { b.store(y, to(b, i), b.load(x, from(b, i))); });
    const Compiled compiled(b.finish());
    for (const int64_t n : lengths())
      compiled.run_both({random_memory(type, n * factor + 1, 3), random_memory(type, n * factor + 1, 4)}, {n});
  }
}

Value same(Builder&, Value index) { return index; }
Value strided(Builder& b, Value index) { return b.multiply(index, b.integer(3)); }
Value reversed(Builder& b, Value index) { return b.subtract(b.size("n"), b.add(index, b.integer(0))); }
Value at_zero(Builder& b, Value) { return b.integer(0); }
Value run_time_stride(Builder& b, Value index) { return b.multiply(index, b.minimum(b.size("n"), b.integer(2))); }
Value shifted(Builder& b, Value index) { return b.add(index, b.integer(1)); }
Value divided(Builder& b, Value index) { return b.floor_divide(index, b.integer(2)); }

TEST(Memory, loads_with_any_stride) {
  check_copy("strided", strided, same, 3);
  check_copy("reversed", reversed, same, 3);
  check_copy("uniform", at_zero, same, 3);
  check_copy("run_time_stride", run_time_stride, same, 3);
  check_copy("divided", divided, same, 3);
}

TEST(Memory, stores_with_any_stride) {
  check_copy("store_strided", same, strided, 3);
  check_copy("store_reversed", same, reversed, 3);
  check_copy("store_shifted", shifted, shifted, 3);
}

TEST(Memory, gathers_and_scatters_by_an_index_buffer) {
  for (const Dtype type : every_type) {
    Builder b("by_index_" + std::string(to_string(type)));
    const int32_t x = b.buffer("x", type, Access::In), order = b.buffer("order", Dtype::i64, Access::In);
    const int32_t y = b.buffer("y", type, Access::Out), z = b.buffer("z", type, Access::Out);
    b.vector_for(b.integer(0), b.size("n"), [&](Value i) {
      b.store(y, i, b.load(x, b.load(order, i)));
      b.store(z, b.load(order, i), b.load(x, i));
    });
    const Compiled compiled(b.finish());
    for (const int64_t n : lengths()) {
      const Memory permutation = numbers(n, [](int64_t i, int64_t count) { return count - 1 - i; });
      compiled.run_both({random_memory(type, n, 5), permutation, random_memory(type, n, 6), random_memory(type, n, 7)}, {n});
    }
  }
}

TEST(Memory, a_load_sees_the_store_before_it) {
  Builder b("store_then_load");
  const int32_t x = b.buffer("x", Dtype::f32, Access::InOut), y = b.buffer("y", Dtype::f32, Access::Out);
  b.vector_for(b.integer(0), b.size("n"), [&](Value i) {
    b.store(x, i, b.add(b.load(x, i), b.constant(Dtype::f32, 1.0)));
    b.store(y, i, b.multiply(b.load(x, i), b.constant(Dtype::f32, 2.0)));
    b.store(x, i, b.load(y, i));
  });
  const Compiled compiled(b.finish());
  for (const int64_t n : lengths()) compiled.run_both({random_memory(Dtype::f32, n, 8), random_memory(Dtype::f32, n, 9)}, {n});
}

}  // namespace
}  // namespace anyshape::codegen

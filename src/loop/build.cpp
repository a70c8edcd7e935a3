// The builder of kernels: scopes, sharing and hoisting. Folding is in fold.cpp, what happens to the finished kernel in compact.cpp.
#include "loop/build.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "loop/compact.h"
#include "loop/half.h"
#include "loop/rules.h"
#include "loop/scalar.h"
#include "loop/verify.h"

namespace anyshape::loop {

Builder::Builder(std::string name) {
  kernel_.name = std::move(name);
  scopes_.emplace_back();
}

Builder::Builder(Kernel kernel) : kernel_(std::move(kernel)), origins_(kernel_.types.size()) {
  if (!kernel_.body.empty()) refuse("Builder", "the kernel has a body; expected one that is to be taken over");
  scopes_.emplace_back();
}

void Builder::take(Instruction&& instruction, const TakeBlock& inside) {
  const size_t depth = scopes_.size() - 1;
  const auto stand = [&](Value value, size_t at) {
    if (value) origins_[static_cast<size_t>(value.id)].depth = static_cast<uint32_t>(at);
  };
  for (const Value result : instruction.results) stand(result, depth);
  if (instruction.op == Op::Constant || instruction.op == Op::Size) {
    const Value result = instruction.results[0];
    origins_[static_cast<size_t>(result.id)].definition = static_cast<int32_t>(definitions_.size());
    definitions_.push_back(instruction);
    if (instruction.op == Op::Constant) scopes_[depth].constants.emplace_back(result, result);
  }
  stand(instruction.index, depth + 1);
  for (const Value carried : instruction.carried) stand(carried, depth + 1);
  for (Block* block : {&instruction.body, &instruction.otherwise}) {
    if (inside && !block->empty()) *block = in_scope([&] { inside(*block); });
  }
  append(std::move(instruction));
}

void Builder::refuse(std::string_view op, std::string_view what) const {
  throw InternalError(fmt::format("kernel {}: {}: {}.", kernel_.name, op, what));
}

void Builder::require_type(Value value, Dtype type, const char* what) const {
  if (this->type(value) != type)
    refuse(what, fmt::format("a value of type {}; expected {}", to_string(this->type(value)), to_string(type)));
}

Dtype Builder::type(Value value) const {
  if (value.id < 0 || value.id >= static_cast<int32_t>(kernel_.types.size()))
    refuse("value", fmt::format("no value has number {}", value.id));
  return kernel_.types[static_cast<size_t>(value.id)];
}

const Instruction* Builder::definition(Value value) const {
  const auto number = static_cast<size_t>(value.id);
  const int32_t known = number < origins_.size() ? origins_[number].definition : -1;
  return known < 0 ? nullptr : &definitions_[static_cast<size_t>(known)];
}

int32_t Builder::buffer(std::string name, Dtype type, Access access) {
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(kernel_.buffers.begin(), kernel_.buffers.end(), [&](const Buffer& other) { return other.name == candidate; });
  };
  std::string unique = name;
  for (int count = 1; taken(unique); ++count) unique = fmt::format("{}_{}", name, count);
  kernel_.buffers.push_back({std::move(unique), type, access});
  return static_cast<int32_t>(kernel_.buffers.size()) - 1;
}

Value Builder::size(std::string name) {
  const auto known = std::find(kernel_.dims.begin(), kernel_.dims.end(), name);
  const auto number = known - kernel_.dims.begin();
  if (known != kernel_.dims.end()) {
    for (const Instruction& instruction : definitions_) {
      if (instruction.op == Op::Size && instruction.integer == number) return instruction.results[0];
    }
  }
  kernel_.dims.push_back(std::move(name));
  Instruction instruction;
  instruction.op = Op::Size;
  instruction.type = Dtype::i64;
  instruction.integer = number;
  const Value result = place(instruction, 0);
  instruction.results = {result};
  origins_[static_cast<size_t>(result.id)].definition = static_cast<int32_t>(definitions_.size());
  definitions_.push_back(std::move(instruction));
  return result;
}

Value Builder::define_constant(Dtype type, uint64_t bits, const Instruction& constant) {
  const Value value = new_value(type, 0);
  constants_.push_back({type, bits, value});
  origins_[static_cast<size_t>(value.id)].definition = static_cast<int32_t>(definitions_.size());
  definitions_.push_back(constant);
  return value;
}

Value Builder::constant(Dtype type, double number) {
  if (is_half(type)) return cast(constant(Dtype::f64, number), type);
  Instruction wanted;
  wanted.op = Op::Constant;
  wanted.type = type;
  wanted.number = std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number;
  if (!is_floating(type)) {
    if (number != std::trunc(number) || std::fabs(number) > 9e15) refuse("constant", fmt::format("{} as {}", number, to_string(type)));
    return constant(type, static_cast<int64_t>(number));
  }
  // Rounded to the type first, so that equal numbers of the type are one constant.
  const Scalar value = scalar_of(wanted);
  for (const KnownConstant& known : constants_) {
    if (known.type == type && known.bits == value.bits) return known.value;
  }
  return define_constant(type, value.bits, constant_of(type, value));
}

Value Builder::constant(Dtype type, int64_t integer) {
  if (is_floating(type)) return constant(type, static_cast<double>(integer));
  Instruction wanted;
  wanted.op = Op::Constant;
  wanted.type = type;
  wanted.integer = integer;
  const Scalar value = scalar_of(wanted);
  for (const KnownConstant& known : constants_) {
    if (known.type == type && known.bits == value.bits) return known.value;
  }
  return define_constant(type, value.bits, constant_of(type, value));
}

Value Builder::new_value(Dtype type, size_t depth) {
  kernel_.types.push_back(type);
  origins_.push_back({.depth = static_cast<uint32_t>(depth)});
  return {static_cast<int32_t>(kernel_.types.size()) - 1};
}

Value Builder::local(Value value, size_t depth) {
  const Instruction* constant = definition(value);
  if (constant == nullptr || constant->op != Op::Constant) return value;
  for (const auto& [known, twin] : scopes_[depth].constants) {
    if (known == value) return twin;
  }
  return scopes_[depth].constants.emplace_back(value, place(*constant, depth)).second;
}

Values Builder::local(std::span<const Value> values, size_t depth) {
  Values result;
  for (Value value : values) result.push_back(local(value, depth));
  return result;
}

Value Builder::place(Instruction instruction, size_t depth) {
  const Value result = new_value(instruction.type, depth);
  instruction.results = {result};
  scopes_[depth].block.push_back(std::move(instruction));
  return result;
}

void Builder::append(Instruction instruction) { scopes_.back().block.push_back(std::move(instruction)); }

Value Builder::find_shared(const SharingKey& key) const {
  for (const Scope& scope : scopes_) {
    if (const Value found = scope.shared.find(key)) return found;
  }
  return {};
}

static SharingKey sharing_key(Op op, Dtype type, int32_t buffer, std::span<const Value> args) {
  SharingKey key = {static_cast<int32_t>(op), static_cast<int32_t>(type), buffer, -1, -1, -1};
  for (size_t i = 0; i < args.size(); ++i) key[3 + i] = args[i].id;
  return key;
}

Value Builder::pure(Op op, Dtype type, std::span<const Value> args) {
  InlineVector<Dtype, 4> types;
  for (Value arg : args) types.push_back(this->type(arg));
  if (const std::string broken = broken_rule(op, type, types); !broken.empty()) refuse(name_of(op), broken);
  if (const Value folded = fold(op, type, args)) return folded;

  const auto key = sharing_key(op, type, -1, args);
  if (const Value found = find_shared(key)) return found;
  // Every instruction is defined for every input, so it may stand outside the loops and branches that none of its operands comes from. That
  // where it stands depends on nothing else keeps a kernel the same when it is printed and parsed.
  size_t depth = 0;
  for (Value arg : args) depth = std::max<size_t>(depth, origins_[static_cast<size_t>(arg.id)].depth);
  Instruction instruction;
  instruction.op = op;
  instruction.type = type;
  instruction.args = local(args, depth);
  const Value result = place(std::move(instruction), depth);
  scopes_[depth].shared.set(key, result);
  const Instruction* right = args.size() == 2 ? definition(args[1]) : nullptr;
  if (op == Op::Add && is_integer(type) && right != nullptr && right->op == Op::Constant) sums_[result.id] = {args[0], args[1]};
  return result;
}

Value Builder::unary(Op op, Value a) {
  const Value args[] = {a};
  return pure(op, type(a), args);
}

Value Builder::binary(Op op, Value a, Value b) {
  // Integer sums and products keep their constant on the right, where the foldings look for it.
  const bool commutes = op == Op::Add || op == Op::Multiply || op == Op::And || op == Op::Or || op == Op::Xor;
  const auto is_constant = [&](Value value) { return definition(value) != nullptr && definition(value)->op == Op::Constant; };
  if (commutes && !is_floating(type(a)) && is_constant(a) && !is_constant(b)) std::swap(a, b);
  const Value args[] = {a, b};
  const bool comparison = op >= Op::Equal && op <= Op::LessEqual;
  return pure(op, comparison ? Dtype::b8 : type(a), args);
}

Value Builder::fma(Value a, Value b, Value c) {
  const Value args[] = {a, b, c};
  return pure(Op::Fma, type(a), args);
}

Value Builder::select(Value condition, Value a, Value b) {
  const Value args[] = {condition, a, b};
  return pure(Op::Select, type(a), args);
}

Value Builder::cast(Value a, Dtype type) {
  if (is_half(type)) return half(bits_of_half(a, type), type);
  const Value args[] = {a};
  return this->type(a) == type ? a : pure(Op::Cast, type, args);
}

Value Builder::bitcast(Value a, Dtype type) {
  const Value args[] = {a};
  return this->type(a) == type ? a : pure(Op::Bitcast, type, args);
}

// Remembering the bits makes moving halves a copy, and rounding twice no work.
Value Builder::half(Value bits, Dtype type) {
  const Value result = half_from_bits(*this, bits, type);
  halves_[result.id] = {type, bits};
  return result;
}

Value Builder::bits_of_half(Value value, Dtype type) {
  const auto known = halves_.find(value.id);
  return known != halves_.end() && known->second.first == type ? known->second.second : half_to_bits(*this, value, type);
}

Value Builder::load(int32_t buffer, Value offset) {
  const Value loaded = load_bits(buffer, offset);
  const Dtype type = kernel_.buffers[static_cast<size_t>(buffer)].type;
  return is_half(type) ? half(loaded, type) : loaded;
}

void Builder::store(int32_t buffer, Value offset, Value value) {
  const bool exists = buffer >= 0 && buffer < static_cast<int32_t>(kernel_.buffers.size());
  const Dtype type = exists ? kernel_.buffers[static_cast<size_t>(buffer)].type : Dtype::b8;
  if (is_half(type)) require_type(value, Dtype::f32, "Store");
  store_bits(buffer, offset, is_half(type) ? bits_of_half(value, type) : value);
}

Value Builder::load_bits(int32_t buffer, Value offset) {
  if (buffer < 0 || buffer >= static_cast<int32_t>(kernel_.buffers.size())) refuse("Load", fmt::format("no buffer has number {}", buffer));
  require_type(offset, Dtype::i64, "Load");
  const Buffer& from = kernel_.buffers[static_cast<size_t>(buffer)];
  const Value args[] = {offset};
  const auto key = sharing_key(Op::Load, from.type, buffer, args);
  // In buffers do not change while the kernel runs, Own ones not before the stores of an iteration. A load never moves out of its loop: where the
  // loop is empty there may be no element.
  if (!is_written(from.access)) {
    if (const Value found = find_shared(key)) return found;
  }
  const size_t depth = scopes_.size() - 1;
  Instruction instruction;
  instruction.op = Op::Load;
  instruction.type = loaded_as(from.type);
  instruction.buffer = buffer;
  instruction.args = local(args, depth);
  const Value result = place(std::move(instruction), depth);
  if (!is_written(from.access)) scopes_[depth].shared.set(key, result);
  return result;
}

void Builder::store_bits(int32_t buffer, Value offset, Value value) {
  if (buffer < 0 || buffer >= static_cast<int32_t>(kernel_.buffers.size())) refuse("Store", fmt::format("no buffer has number {}", buffer));
  require_type(offset, Dtype::i64, "Store");
  const Buffer& into = kernel_.buffers[static_cast<size_t>(buffer)];
  if (!is_written(into.access)) refuse("Store", fmt::format("buffer {} is only read; expected Out or InOut", into.name));
  require_type(value, loaded_as(into.type), "Store");
  Instruction instruction;
  instruction.op = Op::Store;
  instruction.type = loaded_as(into.type);
  instruction.buffer = buffer;
  const Value args[] = {offset, value};
  instruction.args = local(args, scopes_.size() - 1);
  append(std::move(instruction));
}

// The instructions in a block of just their size. What they grew in goes to the next scope: a program has thousands, and memory that comes and goes in
// large pieces is what an allocator takes time for.
static Block taken_from(Block& grown) {
  constexpr size_t most_kept = 256;
  Block block(std::make_move_iterator(grown.begin()), std::make_move_iterator(grown.end()));
  if (grown.capacity() <= most_kept) Spares<Block>::give(std::move(grown));
  return block;
}

Block Builder::in_scope(const std::function<void()>& body) {
  scopes_.emplace_back();
  body();
  Block block = taken_from(scopes_.back().block);
  scopes_.pop_back();
  return block;
}

void Builder::loop(Instruction instruction, const std::function<void(const Instruction& loop)>& body) {
  const size_t depth = scopes_.size() - 1;
  instruction.op = Op::For;
  for (const Value arg : instruction.args) require_type(arg, Dtype::i64, "For");
  instruction.args = local(instruction.args, depth);
  if (instruction.grain) instruction.grain = local(instruction.grain, depth);
  if (instruction.kind != LoopKind::Runs) instruction.index = new_value(Dtype::i64, depth + 1);
  if (instruction.kind == LoopKind::Ranges || instruction.kind == LoopKind::Runs)
    instruction.carried = {new_value(Dtype::i64, depth + 1), new_value(Dtype::i64, depth + 1)};
  instruction.body = in_scope([&] { body(instruction); });
  append(std::move(instruction));
}

void Builder::loop(LoopKind kind, Value begin, Value end, const std::function<void(Value index)>& body) {
  Instruction instruction;
  instruction.kind = kind;
  instruction.args = {begin, end};
  loop(std::move(instruction), [&](const Instruction& loop) { body(loop.index); });
}

void Builder::each(Value begin, Value end, Value work, const std::function<void(Value index)>& body) {
  Instruction instruction;
  instruction.kind = LoopKind::Each;
  instruction.args = {begin, end, work};
  loop(std::move(instruction), [&](const Instruction& loop) { body(loop.index); });
}

void Builder::ranges(Value rows, Value length, Value work, Walk walk, const std::function<void(Value row, Value begin, Value end)>& body) {
  Instruction instruction;
  instruction.kind = LoopKind::Ranges;
  instruction.integer = static_cast<int64_t>(walk);
  instruction.args = {rows, length, work};
  loop(std::move(instruction), [&](const Instruction& loop) { body(loop.index, loop.carried[0], loop.carried[1]); });
}

void Builder::ranges(Value length, Value work, Walk walk, const RangeBody& body) {
  ranges(integer(1), length, work, walk, [&](Value, Value begin, Value end) { body(begin, end); });
}

void Builder::runs(Value begin, Value end, Value work, const RangeBody& body) {
  Instruction instruction;
  instruction.kind = LoopKind::Runs;
  instruction.args = {begin, end, work};
  loop(std::move(instruction), [&](const Instruction& loop) { body(loop.carried[0], loop.carried[1]); });
}

void Builder::elements(Value begin, Value end, const std::function<void(Value index)>& body) { loop(LoopKind::Elements, begin, end, body); }

void Builder::parallel_for(Value begin, Value end, Value grain, const std::function<void(Value index)>& body) {
  require_type(grain, Dtype::i64, "For");
  Instruction instruction;
  instruction.kind = LoopKind::Parallel;
  instruction.args = {begin, end};
  instruction.grain = grain;
  loop(std::move(instruction), [&](const Instruction& loop) { body(loop.index); });
}

void Builder::vector_for(Value begin, Value end, const std::function<void(Value index)>& body) { loop(LoopKind::Vector, begin, end, body); }

void Builder::serial_for(Value begin, Value end, const std::function<void(Value index)>& body) { loop(LoopKind::Serial, begin, end, body); }

std::vector<Value> Builder::carry_for(Value begin, Value end, std::span<const Value> initial, const CarryBody& body, bool reverse) {
  require_type(begin, Dtype::i64, "For");
  require_type(end, Dtype::i64, "For");
  const size_t depth = scopes_.size() - 1;
  Instruction instruction;
  instruction.op = Op::For;
  instruction.kind = LoopKind::Serial;
  instruction.reverse = reverse;
  instruction.args = {local(begin, depth), local(end, depth)};
  instruction.index = new_value(Dtype::i64, depth + 1);
  for (Value value : initial) {
    instruction.args.push_back(local(value, depth));
    instruction.carried.push_back(new_value(type(value), depth + 1));
  }
  instruction.body = in_scope([&] {
    const std::vector<Value> next = body(instruction.index, instruction.carried);
    if (next.size() != initial.size()) refuse("For", fmt::format("{} next values for {} carried ones", next.size(), initial.size()));
    for (size_t i = 0; i < next.size(); ++i) require_type(next[i], type(initial[i]), "For");
    instruction.yields = local(next, depth + 1);
  });
  for (Value value : initial) instruction.results.push_back(new_value(type(value), depth));
  std::vector<Value> results(instruction.results.begin(), instruction.results.end());
  append(std::move(instruction));
  return results;
}

std::vector<Value> Builder::reduce(Value begin, Value end, std::span<const Combine> combine, const ReduceBody& body) {
  require_type(begin, Dtype::i64, "Reduce");
  require_type(end, Dtype::i64, "Reduce");
  const size_t depth = scopes_.size() - 1;
  Instruction instruction;
  instruction.op = Op::Reduce;
  instruction.args = {local(begin, depth), local(end, depth)};
  instruction.combine.assign(combine.begin(), combine.end());
  instruction.index = new_value(Dtype::i64, depth + 1);
  std::vector<Value> given;
  instruction.body = in_scope([&] {
    given = body(instruction.index);
    if (given.size() != combine.size()) refuse("Reduce", fmt::format("{} values for {} combinations", given.size(), combine.size()));
    instruction.yields = local(given, depth + 1);
  });
  for (size_t i = 0; i < given.size(); ++i) {
    if (const std::string broken = broken_rule(combine[i], type(given[i])); !broken.empty()) refuse("Reduce", broken);
    instruction.results.push_back(new_value(type(given[i]), depth));
  }
  if (!given.empty()) instruction.type = type(given[0]);
  std::vector<Value> results(instruction.results.begin(), instruction.results.end());
  append(std::move(instruction));
  return results;
}

Value Builder::reduce(Value begin, Value end, Combine combine, const std::function<Value(Value index)>& body) {
  const Combine one[] = {combine};
  return reduce(begin, end, one, [&](Value index) { return std::vector<Value>{body(index)}; })[0];
}

void Builder::if_(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  require_type(condition, Dtype::b8, "If");
  Instruction instruction;
  instruction.op = Op::If;
  instruction.args = {local(condition, scopes_.size() - 1)};
  instruction.body = in_scope(then);
  if (otherwise) instruction.otherwise = in_scope(otherwise);
  append(std::move(instruction));
}

void Builder::call(std::string name, std::span<const Argument> buffers, std::span<const Value> integers) {
  Instruction instruction;
  instruction.op = Op::Call;
  instruction.name = std::move(name);
  std::vector<Value> args;
  for (const Argument& argument : buffers) {
    instruction.buffers.push_back(argument.buffer);
    args.push_back(argument.offset);
  }
  args.insert(args.end(), integers.begin(), integers.end());
  for (Value value : args) require_type(value, Dtype::i64, "Call");
  instruction.args = local(args, scopes_.size() - 1);
  append(std::move(instruction));
}

Kernel Builder::finish_taken() {
  if (scopes_.size() != 1) refuse("finish_taken", "a loop is still open; expected it after the outermost body has returned");
  kernel_.body = taken_from(scopes_.back().block);
  return std::move(kernel_);
}

Kernel Builder::finish() {
  if (scopes_.size() != 1) refuse("finish", "a loop is still open; expected finish() after the outermost body has returned");
  kernel_.body = taken_from(scopes_.back().block);
  compact(kernel_);
  verify(kernel_);
  return std::move(kernel_);
}

}  // namespace anyshape::loop

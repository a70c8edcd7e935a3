// Signatures: binding the sizes of a call to symbols.
#include "function/signature.h"

#include "base/thread_object.h"
#include "function/argument_names.h"
#include "shape/dim_node.h"
#include "shape/substitute.h"
#include "tensor/tensor_impl.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace anyshape::function_detail {

static bool is_ragged(const TensorSpec& spec) { return spec.shape.rank() > 1 && spec.shape[1].is_ragged(); }

Signature::Signature(std::vector<TensorSpec> specs, std::vector<Rows> rows) : specs_(std::move(specs)), rows_(std::move(rows)) {
  for (size_t argument = 0; argument < specs_.size(); ++argument) {
    const int number = static_cast<int>(argument);
    for (int axis = 0; axis < specs_[argument].shape.rank(); ++axis) add_symbol(specs_[argument].shape[axis], {number, axis});
    if (const Rows* ragged = find_rows(argument); ragged != nullptr && ragged->first == argument) {
      add_symbol(ragged->total, {number, 1, Part::Total});
      add_symbol(ragged->shortest, {number, 1, Part::Shortest});
      add_symbol(ragged->longest, {number, 1, Part::Longest});
    }
  }
}

// After the symbols are known: a declaration is checked against them first.
void Signature::plan_sizes() {
  sizes_ = DimProgram(symbols_);
  for (size_t argument = 0; argument < specs_.size(); ++argument) {
    for (int axis = 0; axis < specs_[argument].shape.rank(); ++axis) {
      const Dim& size = specs_[argument].shape[axis];
      if (!size.is_ragged()) dense_sizes_.push_back({{static_cast<int>(argument), axis}, sizes_.add(size)});
    }
  }
}

void Signature::add_symbol(const Dim& size, const Place& place) {
  if (as_symbol(size) == nullptr) return;
  if (std::ranges::any_of(symbols_, [&](const Dim& known) { return known.same_as(size); })) return;
  symbols_.push_back(size);
  places_.push_back(place);
}

Signature Signature::declared(const std::vector<TensorSpec>& specs) {
  std::vector<TensorSpec> copy = specs;
  std::map<std::string, Dim> names;
  for (const TensorSpec& spec : specs) {
    for (const Dim& size : spec.shape) {
      if (const Symbol* symbol = as_symbol(size); symbol != nullptr && !is_dynamic(size)) names.emplace(symbol->name, size);
    }
  }
  int unnamed = 0;
  auto fresh_symbol = [&] {
    while (names.contains(fmt::format("n{}", unnamed))) ++unnamed;
    return make_symbol(fmt::format("n{}", unnamed++));
  };
  for (TensorSpec& spec : copy) {
    for (int axis = 0; axis < spec.shape.rank(); ++axis) {
      Dim& size = spec.shape[axis];
      if (is_dynamic(size)) {
        size = fresh_symbol();
      } else if (const Symbol* symbol = as_symbol(size)) {
        const auto known = names.find(symbol->name);
        const DimOptions &a = symbol->options, &b = as_symbol(known->second)->options;
        if (a.min != b.min || a.max != b.max || a.multiple_of != b.multiple_of) {
          throw ArgumentError(
              fmt::format("signature: \"{}\" is declared twice with different ranges; expected one meaning per name.", symbol->name));
        }
        size = known->second;
      } else if (!size.is_constant()) {  // an expression: its symbols are those of their names
        Substitution by_name;
        for_each_symbol(size, [&](const Symbol& symbol) {
          if (const auto known = names.find(symbol.name); known != names.end()) by_name.emplace(symbol.id, known->second);
        });
        size = substitute(size, by_name);
      } else if (size.value() < 0) {
        throw ArgumentError(
            fmt::format("signature: size {} in {}; expected a size, a dim or as::dynamic.", size.value(), anyshape::to_string(spec)));
      }
    }
  }
  std::vector<Rows> rows = rows_of(copy, [&](size_t) { return anyshape::to_string(fresh_symbol()); });
  Signature signature(std::move(copy), std::move(rows));
  for (const TensorSpec& spec : signature.specs_) {
    for (const Dim& size : spec.shape) {
      for_each_symbol(size, [&](const Symbol& symbol) {
        const bool bound = std::ranges::any_of(signature.symbols_, [&](const Dim& known) { return as_symbol(known)->id == symbol.id; });
        if (!bound) {
          throw ArgumentError(
              fmt::format("signature: \"{}\" stands only inside the expression {}; expected it as the whole size of some axis.",
                          symbol.name, anyshape::to_string(size)));
        }
      });
    }
  }
  signature.plan_sizes();
  return signature;
}

Signature Signature::open(std::span<const Tensor> arguments, std::span<const std::string> places) {
  std::vector<TensorSpec> specs;
  const std::vector<std::string> names = argument_names(arguments.size(), places);
  for (size_t argument = 0; argument < arguments.size(); ++argument) {
    Shape shape;
    for (int axis = 0; axis < arguments[argument].rank(); ++axis) {
      const std::string name = fmt::format("{}{}", names[argument], axis);
      shape.push_back(axis == 1 && arguments[argument].is_ragged() ? ragged_dim(name) : make_symbol(name));
    }
    specs.push_back({arguments[argument].dtype(), std::move(shape), {}});
  }
  std::vector<Rows> rows = rows_of(specs, [](size_t) { return std::string(); });
  return Signature(std::move(specs), std::move(rows));
}

Signature Signature::with_known(KnownSizes sizes) const {
  Substitution numbers;
  std::vector<Fixed> fixed;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (!sizes[i]) continue;
    numbers.emplace(as_symbol(symbols_[i])->id, *sizes[i]);
    fixed.push_back({places_[i], *sizes[i]});
  }
  std::vector<TensorSpec> specs = specs_;
  for (TensorSpec& spec : specs) spec.shape = substitute(spec.shape, numbers);
  std::vector<Rows> rows = rows_;
  for (Rows& each : rows) {
    for (Dim* size : {&each.total, &each.shortest, &each.longest}) *size = substitute(*size, numbers);
  }
  Signature result(std::move(specs), std::move(rows));
  result.known_ = std::move(sizes);
  result.fixed_ = std::move(fixed);
  return result;
}

bool Signature::fits_kinds(std::span<const Tensor> arguments) const {
  if (arguments.size() != specs_.size()) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TensorImpl& impl = *arguments[i].impl();
    if (impl.dtype != specs_[i].dtype || impl.rank != specs_[i].shape.rank()) return false;
    if ((impl.ragged() != nullptr) != is_ragged(specs_[i])) return false;
  }
  return true;
}

int Signature::changed_sizes(size_t argument, std::span<const Tensor> arguments) const {
  const Shape &known = specs_[argument].shape, given = arguments[argument].shape();
  int changed = 0;
  for (int axis = 0; axis < known.rank(); ++axis) {
    if (known[axis].is_constant() && known[axis].value() != given[axis].value()) ++changed;
  }
  for (const Fixed& each : fixed_) {
    const bool is_of_rows = each.place.part != Part::Size && each.place.argument == static_cast<int>(argument);
    if (is_of_rows && each.place.read(arguments) != each.size) ++changed;
  }
  return changed;
}

bool Signature::fits_known(std::span<const Tensor> arguments) const {
  const auto has_size = [&](const Fixed& each) { return each.place.read(arguments) == each.size; };
  return std::ranges::all_of(fixed_, has_size) && (!admits_all_ || admits(arguments));
}

void Signature::bind(std::span<const Tensor> arguments, std::vector<int64_t>& values) const {
  values.clear();
  for (const Place& place : places_) values.push_back(place.read(arguments));
}

Bindings Signature::bindings(std::span<const int64_t> values) const {
  Bindings bindings;
  for (size_t i = 0; i < symbols_.size(); ++i) bindings.set(symbols_[i], values[i]);
  return bindings;
}

std::string Signature::argument_name(size_t tensor, const std::string& place) const {
  if (specs_[tensor].name.empty()) return place;
  return fmt::format("{} ({})", place.substr(0, place.find(" (")), specs_[tensor].name);
}

bool Signature::admits(std::span<const Tensor> arguments) const {
  if (arguments.size() != specs_.size()) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_ragged() != is_ragged(specs_[i]) || arguments[i].rank() != specs_[i].shape.rank()) return false;
  }
  struct OfThread {
    std::vector<int64_t> values, table;
  };
  auto& [values, table] = ThreadObject<OfThread, Signature>::get();
  bind(arguments, values);
  table.resize(static_cast<size_t>(sizes_.slot_count()));
  try {
    sizes_.run(values.data(), table.data());
  } catch (const ShapeError&) {
    return false;  // a size that overflows is no size of an argument
  }
  const auto has_size = [&](const Size& size) { return size.place.read(arguments) == table[static_cast<size_t>(size.slot)]; };
  if (!std::ranges::all_of(dense_sizes_, has_size)) return false;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const DimOptions& options = as_symbol(symbols_[i])->options;
    if (places_[i].part != Part::Size && !admits_all_) continue;  // of rows: below
    if (values[i] < options.min || values[i] > options.max || values[i] % std::max<int64_t>(options.multiple_of, 1) != 0) return false;
  }
  return std::ranges::all_of(rows_, [&](const Rows& rows) { return admits_rows(arguments, rows); });
}

void Signature::require(std::span<const Tensor> arguments, const detail::FunctionCall& call, const std::string& function) const {
  if (admits(arguments)) return;
  if (arguments.size() != specs_.size()) {
    throw SignatureError(fmt::format("function \"{}\": {} tensor arguments given; expected {}: {}.", function, arguments.size(),
                                     specs_.size(), to_string()));
  }
  auto refuse = [&](size_t argument, const std::string& what) {
    throw SignatureError(fmt::format("function \"{}\": {} {}: it is {}; expected {}. Change the call or widen the signature.", function,
                                     argument_name(argument, call.describe().tensors[argument]), what, describe(arguments[argument]),
                                     anyshape::to_string(specs_[argument])));
  };
  std::vector<int64_t> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_ragged() != is_ragged(specs_[i])) refuse(i, arguments[i].is_ragged() ? "is ragged" : "is dense");
    if (arguments[i].rank() != specs_[i].shape.rank()) refuse(i, "has another rank");
  }
  bind(arguments, values);
  const Bindings bound = bindings(values);
  for (size_t i = 0; i < arguments.size(); ++i) {
    for (int axis = 0; axis < specs_[i].shape.rank(); ++axis) {
      const Dim& size = specs_[i].shape[axis];
      if (size.is_ragged()) continue;
      const int64_t given = Place{static_cast<int>(i), axis}.read(arguments);
      if (const int64_t wanted = evaluate(size, bound); given != wanted) {
        const std::string rule = size.is_constant() ? "" : fmt::format(" where {} is {}", anyshape::to_string(size), wanted);
        refuse(i, fmt::format("has size {} along axis {}{}", given, axis, rule));
      }
      const Symbol* symbol = as_symbol(size);
      if (symbol == nullptr) continue;
      const DimOptions& options = symbol->options;
      if (given < options.min || given > options.max) {
        refuse(i, fmt::format("has {} = {}, outside {}..{}", symbol->name, given, options.min,
                              options.max == Range::infinity ? std::string("any") : fmt::to_string(options.max)));
      }
      if (options.multiple_of > 1 && given % options.multiple_of != 0) {
        refuse(i, fmt::format("has {} = {}, no multiple of {}", symbol->name, given, options.multiple_of));
      }
    }
  }
  for (const Rows& rows : rows_) require_rows(arguments, rows, refuse);
}

std::string Signature::to_string() const {
  std::vector<std::string> texts;
  for (const TensorSpec& spec : specs_) texts.push_back((spec.name.empty() ? "" : spec.name + ": ") + anyshape::to_string(spec));
  return fmt::format("({})", fmt::join(texts, ", "));
}

}  // namespace anyshape::function_detail

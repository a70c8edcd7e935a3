// Order, hash and questions of normal forms.
#include "shape/dim_node.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "shape/normal_form.h"

namespace anyshape {
namespace {

int sign_of(auto a, auto b) { return a < b ? -1 : (b < a ? 1 : 0); }

int degree_of(const std::vector<Factor>& factors) {
  int degree = 0;
  for (const Factor& factor : factors) degree += factor.power;
  return degree;
}

bool is_name(const std::string& name) {
  const auto is_letter = [](unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80; };
  if (name.empty() || !is_letter(static_cast<unsigned char>(name.front()))) return false;
  return std::all_of(name.begin(), name.end(), [&](unsigned char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

// Id 0 is the marker `dynamic`.
std::atomic<uint64_t> next_symbol_id{1};

Dim symbol_with_id(uint64_t id, std::string name, DimOptions options, Range range, bool from_data = false) {
  auto atom = std::make_shared<Atom>();
  atom->symbol = {id, std::move(name), options, from_data};
  atom->hash = std::hash<uint64_t>{}(id) * 0x9e3779b97f4a7c15u;
  atom->range = range;
  atom->divisor = options.multiple_of;
  return make_sum({Term{1, {Factor{std::move(atom), 1}}}}, 0);
}

}  // namespace

const Dim dynamic = symbol_with_id(0, "dynamic", {}, {0, Range::infinity});

bool is_dynamic(const Dim& dim) {
  const Symbol* symbol = as_symbol(dim);
  return symbol != nullptr && symbol->id == 0;
}

Dim make_symbol(std::string name, DimOptions options) {
  if (!is_name(name)) {
    throw ArgumentError(fmt::format("dim: bad name \"{}\"; expected letters, digits, '_' and '.', beginning with a letter or '_'.", name));
  }
  if (options.multiple_of < 1) {
    throw ArgumentError(fmt::format("dim: \"{}\" has multiple_of {}; expected 1 or more.", name, options.multiple_of));
  }
  if (options.min < 0 || options.max < options.min) {
    throw ArgumentError(fmt::format("dim: \"{}\" has min {} and max {}; expected 0 <= min <= max.", name, options.min, options.max));
  }
  const int64_t multiple = options.multiple_of;
  const int64_t over = options.min % multiple;
  int64_t low = 0;
  if (__builtin_add_overflow(options.min, over == 0 ? 0 : multiple - over, &low)) low = Range::infinity;
  const int64_t high = options.max == Range::infinity ? options.max : options.max - options.max % multiple;
  if (low > high) {
    throw ArgumentError(
        fmt::format("dim: \"{}\" can have no size: no multiple of {} lies between {} and {}.", name, multiple, options.min, options.max));
  }
  const Range range{std::min(low, Range::infinity - 1), high};
  return symbol_with_id(next_symbol_id.fetch_add(1, std::memory_order_relaxed), std::move(name), options, range);
}

Dim make_data_symbol(std::string name) {
  return symbol_with_id(next_symbol_id.fetch_add(1, std::memory_order_relaxed), std::move(name), {}, {0, Range::infinity}, true);
}

Dim dim(std::string name, DimOptions options) { return make_symbol(std::move(name), options); }

const Atom* as_atom(const Dim& dim) {
  if (dim.is_constant()) return nullptr;
  const DimNode& node = *dim.node();
  if (node.terms.size() != 1 || node.constant != 0 || node.terms[0].coefficient != 1) return nullptr;
  const std::vector<Factor>& factors = node.terms[0].factors;
  return factors.size() == 1 && factors[0].power == 1 ? factors[0].atom.get() : nullptr;
}

const Symbol* as_symbol(const Dim& dim) {
  const Atom* atom = as_atom(dim);
  return atom != nullptr && atom->kind == AtomKind::Symbol ? &atom->symbol : nullptr;
}

Range range_of(const Dim& dim) {
  if (!dim.is_constant()) return dim.node()->range;
  const int64_t value = dim.value();
  return {std::min(value, Range::infinity - 1), std::max(value, Range::minus_infinity + 1)};
}

int64_t divisor_of(const Dim& dim) { return dim.is_constant() ? greatest_common_divisor(dim.value(), 0) : dim.node()->divisor; }

size_t hash_of(const Dim& dim) { return dim.is_constant() ? std::hash<int64_t>{}(dim.value()) : dim.node()->hash; }

// Operations are greater than symbols, so that an equality such as `bcast(n, m) == n` rewrites the former; earlier symbols are
// greater than later ones, so that sums print in the order in which their symbols were made.
int compare_atoms(const Atom& a, const Atom& b) {
  if (&a == &b) return 0;
  if (const int order = sign_of(a.kind, b.kind)) return order;
  if (a.kind == AtomKind::Symbol) return sign_of(b.symbol.id, a.symbol.id);
  if (const int order = sign_of(a.operands.size(), b.operands.size())) return order;
  for (size_t i = 0; i < a.operands.size(); ++i) {
    if (const int order = compare_structure(a.operands[i], b.operands[i])) return order;
  }
  return 0;
}

// By degree, then lexicographic: an order that products respect, as polynomial division needs.
int compare_monomials(const std::vector<Factor>& a, const std::vector<Factor>& b) {
  if (const int order = sign_of(degree_of(a), degree_of(b))) return order;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (const int order = compare_atoms(*a[i].atom, *b[i].atom)) return order;
    if (const int order = sign_of(a[i].power, b[i].power)) return order;
  }
  return 0;
}

int compare_structure(const Dim& a, const Dim& b) {
  if (a.is_constant() || b.is_constant()) {
    if (a.is_constant() != b.is_constant()) return a.is_constant() ? -1 : 1;
    return sign_of(a.value(), b.value());
  }
  if (a.node() == b.node()) return 0;
  if (a.is_ragged() || b.is_ragged()) return sign_of(a.node(), b.node());
  const std::vector<Term>&x = a.node()->terms, &y = b.node()->terms;
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (const int order = compare_monomials(x[i].factors, y[i].factors)) return order;
    if (const int order = sign_of(x[i].coefficient, y[i].coefficient)) return order;
  }
  if (const int order = sign_of(x.size(), y.size())) return order;
  return sign_of(a.node()->constant, b.node()->constant);
}

bool depends_on(const Dim& dim, uint64_t symbol_id) {
  bool found = false;
  for_each_symbol(dim, [&](const Symbol& symbol) { found = found || symbol.id == symbol_id; });
  return found;
}

bool depends_on_data(const Dim& dim) {
  bool found = false;
  for_each_symbol(dim, [&](const Symbol& symbol) { found = found || symbol.from_data; });
  return found;
}

}  // namespace anyshape

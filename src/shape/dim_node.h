// The normal form behind a symbolic Dim: a sum of terms, each a coefficient times a product of atoms. Two sizes that are equal by the
// rules of arithmetic are one form, so `same_as` compares structure. Everything here is immutable once made.
#pragma once
#include <anyshape/dim.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shape/range.h"

namespace anyshape {

using detail::DimNode;

enum class AtomKind : uint8_t { Symbol, FloorDivide, Modulo, Min, Max, Bcast };

// An unknown of a trace or signature. The id is unique in the process and never used again; names are for people.
struct Symbol {
  uint64_t id = 0;
  std::string name;
  DimOptions options;
  bool from_data = false;  // its value is known only after the op that makes it has run
};

// What a term multiplies: a symbol, or an operation that sums and products cannot say.
// FloorDivide and Modulo have two operands; Min, Max and Bcast two or more, sorted, none of them of the same kind itself.
struct Atom {
  AtomKind kind = AtomKind::Symbol;
  Symbol symbol;              // for AtomKind::Symbol
  std::vector<Dim> operands;  // for the others
  size_t hash = 0;
  Range range;
  int64_t divisor = 1;  // every value is a multiple of it
  int64_t weight = 1;   // atoms in it, counted as often as they are written
};

struct Factor {
  std::shared_ptr<const Atom> atom;
  int power = 1;
};

struct Term {
  int64_t coefficient = 0;
  std::vector<Factor> factors;  // greatest atom first
};

// The axis along which the rows of a ragged tensor differ. It stands in shapes and is no number: what computes with it is refused.
struct RaggedAxis {
  std::string name;    // of a signature or trace; without one the bounds are shown
  DimOptions options;  // of every row, where a signature says it
  Dim shortest;
  Dim longest;
};

struct detail::DimNode {
  std::vector<Term> terms;  // greatest monomial first; empty for a ragged axis only: a constant has no node
  int64_t constant = 0;
  size_t hash = 0;
  Range range;
  int64_t divisor = 1;
  int64_t weight = 0;
  std::shared_ptr<const RaggedAxis> ragged = nullptr;
};

// A ragged axis of its own: the same as no other one.
Dim make_ragged_axis(RaggedAxis axis);
const RaggedAxis* as_ragged_axis(const Dim& dim);  // null for a size
void require_size(const Dim& dim);                 // ShapeError for a ragged axis

// A fresh symbol; `name` is taken as it is. Throws ArgumentError for a name that is no identifier or for options that no size meets.
// Names may hold letters, digits, `_`, `.` and bytes beyond ASCII, and do not begin with a digit or a dot.
Dim make_symbol(std::string name, DimOptions options = {});

// A fresh symbol for a size that an op finds in its data.
Dim make_data_symbol(std::string name);

const Symbol* as_symbol(const Dim& dim);  // the symbol that this size is; null for constants and anything larger
const Atom* as_atom(const Dim& dim);      // likewise for any atom
bool is_dynamic(const Dim& dim);          // the marker `dynamic` of signatures

Range range_of(const Dim& dim);
int64_t divisor_of(const Dim& dim);  // every value is a multiple of it; 0 for the constant 0
size_t hash_of(const Dim& dim);

// An order of expressions for sorting and maps (by structure, not by value): negative, zero or positive.
int compare_structure(const Dim& a, const Dim& b);
int compare_atoms(const Atom& a, const Atom& b);
int compare_monomials(const std::vector<Factor>& a, const std::vector<Factor>& b);

// Calls `visit(symbol)` for every symbol in it, a symbol as often as it occurs.
template <class Visit>
void for_each_symbol(const Dim& dim, const Visit& visit) {
  if (dim.is_constant()) return;
  for (const Term& term : dim.node()->terms) {
    for (const Factor& factor : term.factors) {
      if (factor.atom->kind == AtomKind::Symbol) visit(factor.atom->symbol);
      for (const Dim& operand : factor.atom->operands) for_each_symbol(operand, visit);
    }
  }
}

bool depends_on(const Dim& dim, uint64_t symbol_id);
bool depends_on_data(const Dim& dim);  // not known before something has run

// For std::unordered_map and std::set keyed by structure.
struct DimHash {
  size_t operator()(const Dim& dim) const { return hash_of(dim); }
};
struct DimSame {
  bool operator()(const Dim& a, const Dim& b) const { return a.same_as(b); }
};

}  // namespace anyshape

// The list of names, and which are off: those of the process, then those of the scopes open on this thread.
#include "base/switches.h"

#include "base/log.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace anyshape {
namespace {

void warn_of_unknown(const std::string& name) {
  if (std::ranges::find(all_switches(), name, &Switch::name) != all_switches().end()) return;
  std::string text = "ANYSHAPE_WITHOUT: \"" + name + "\" is nothing that can be switched off; expected some of";
  for (const Switch& each : all_switches()) text += " " + std::string(each.name);
  log_warning(text + ", separated by commas.");
}

std::vector<std::string> from_environment() {
  std::vector<std::string> names;
  const char* const given = std::getenv("ANYSHAPE_WITHOUT");
  std::istringstream list(given == nullptr ? "" : given);
  for (std::string name; std::getline(list, name, ',');) {
    warn_of_unknown(name);
    names.push_back(name);
  }
  return names;
}

thread_local std::vector<std::string> scopes;

}  // namespace

std::span<const Switch> all_switches() {
  static constexpr Switch switches[] = {
      {"remove_dead_code", "what no result needs is not computed"},
      {"sink_constants", "constants are made inside the regions that use them"},
      {"drop_identities", "ops that change nothing are left out"},
      {"fold_constants", "what literals make is computed once and for all"},
      {"simplify_shapes", "movement is joined, and repeating left to what reads the repeated"},
      {"simplify_algebra", "arithmetic that changes no number is left out"},
      {"deduplicate", "equal expressions are computed once"},
      {"absorb_transposes", "transposes are flags of the products beside them"},
      {"clean_gradients", "zeros and scatters are taken out of sums of gradients"},
      {"expand_products", "products of vectors and of tiny matrices are loops that join what is around them"},
      {"recompute", "cheap values are computed again instead of being kept for the backward pass"},
      {"lift", "what a loop computes without its carried values is computed for all steps at once"},
      {"turn_weights", "a weight that every step multiplies transposed is transposed once"},
      {"save_functions", "a loop keeps what its exponentials and their like gave for its gradient"},
      {"keep_carries", "what a loop keeps of a carried value is where the steps read it"},
      {"inline", "a value that one loop needs is computed in that loop"},
      {"cut_up", "a value that slices take apart is computed by those who read the slices"},
      {"place_parts", "parts of a concatenation are written where they stand in it"},
      {"merge", "loops over the same elements are one"},
      {"fuse_rows", "reductions are computed with what they read and what reads them"},
      {"rows_together", "rows whose length suits it are walked several at once"},
      {"epilogue", "what follows a product is computed on its tiles"},
      {"pack_operands", "a matrix that many rows are multiplied with is copied to where products read it best"},
      {"split_rows", "a loop whose rows do not meet runs blocks of rows apart"},
      {"reuse_memory", "values that are not needed together have one place in memory"},
      {"in_place", "a result is written over an operand that nothing else needs"},
      {"update_in_place", "a variable that nobody else holds is written over by its next value"},
  };
  return switches;
}

bool is_switched_off(std::string_view name) {
  static const std::vector<std::string> whole_process = from_environment();
  return std::ranges::find(whole_process, name) != whole_process.end() || std::ranges::find(scopes, name) != scopes.end();
}

ScopedWithout::ScopedWithout(std::string name) { scopes.push_back(std::move(name)); }
ScopedWithout::~ScopedWithout() { scopes.pop_back(); }

}  // namespace anyshape

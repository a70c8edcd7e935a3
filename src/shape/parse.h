// Reads sizes as to_string writes them: for the graph's text form.
#pragma once
#include <anyshape/shape.h>

#include <functional>
#include <string_view>

namespace anyshape {

// The size a name stands for; it throws for one that it does not know, or makes a symbol.
using SymbolLookup = std::function<Dim(std::string_view name)>;

// "2 * rows + cols / 4", "bcast(n, m)". FormatError with the position for anything else.
Dim parse_dim(std::string_view text, const SymbolLookup& lookup);

// "[batch, 784]"
Shape parse_shape(std::string_view text, const SymbolLookup& lookup);

}  // namespace anyshape

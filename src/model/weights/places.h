// Where the tensors of each layer's weights are in a file: from the names that are given, or from the layers' own paths.
#pragma once
#include "model/weights/rules.h"

#include <anyshape/layer.h>
#include <anyshape/weights.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::model {

// A module of the file: what its tensors are called.
struct Place {
  std::string pattern = "*";  // with a star where a tensor's own name goes
  bool has_own_star = false;  // the user's: it says which level of a recurrent module it is
  bool is_reverse = false;    // the other direction of a recurrent module

  std::string name_of(const std::string& tensor, bool has_level) const;
};

// A weight of the network and the names of the tensors that it is made of.
struct Match {
  std::string path;
  Variable variable;
  Rule rule;
  std::vector<std::string> tensors;
  std::string problem = {};  // why it is not taken, whatever the file has
};

// A layer with weights of its own, in the order of the network's variables.
struct Leaf {
  std::string path;
  AnyLayer layer;
};
std::vector<Leaf> leaves_of(const AnyLayer& network);

// Every weight of the network, once. ArgumentError for names that are not the network's. `found` has modules that are known already, by the layers' paths;
// `is_there` tells which tensors the file has.
std::vector<Match> find_tensors(const AnyLayer& network, const LoadOptions& options, const std::map<std::string, Place>& found,
                                const std::function<bool(const std::string&)>& is_there);

// Modules by kind and sizes: `file` has the sizes of its tensors by name. A layer that no module fits is left out. FormatError where modules fit
// alike and their names have no order.
std::map<std::string, Place> places_by_order(const AnyLayer& network, const std::map<std::string, Sizes>& file);

std::string path_in(const std::string& outer, const std::string& name);  // "outer/name"

}  // namespace anyshape::model

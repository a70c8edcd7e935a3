// How a model was compiled, as a config: what compile() was given that a name says. What is a callable of the program's is told, and missing.
#pragma once
#include "model/compiled.h"

#include <string>
#include <vector>

namespace anyshape::model {

Config compile_config(const Compiled& compiled);

struct CompileAgain {
  CompileOptions options;
  std::vector<std::string> missing;  // what has to be given anew, in words; none: the options are whole
};
// ArgumentError for what is no such config, and for names that are not registered.
CompileAgain compile_again(const Config& config, const std::vector<std::string>& outputs);

}  // namespace anyshape::model

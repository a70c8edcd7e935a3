// load_model: the network from its config, its names and weights from the file, and how it was compiled.
#include "base/log.h"
#include "model/compile_config.h"
#include "model/model_state.h"
#include "model/prepare.h"
#include "model/saved_state.h"
#include "nn/layer_tree.h"
#include "nn/loading_scope.h"

#include <anyshape/error.h>
#include <anyshape/registry.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace anyshape {
namespace {

AnyLayer network_of(const model::ModelFile& file) {
  const model::ModelParts& parts = file.parts();
  if (parts.architecture.is_null()) {
    file.refuse(
        fmt::format("has no architecture{}{}; expected a file of Model::save. Make the model in the program, and read its weights by "
                    "load_weights() or its state by .resume_from of fit",
                    parts.why_none.empty() ? "" : ", as it was saved without: ", parts.why_none));
  }
  const Dtype default_dtype_here = default_dtype();
  const nn::LoadingScope scope(parts.layers.default_dtype, model::most_layers(file.bytes()));
  const AnyLayer network = file.in_part("architecture", [&] { return make<AnyLayer>(parts.architecture); });
  file.in_part("layers", [&] { nn::restore_layer_tree(network, parts.layers.network, default_dtype_here); });
  if (!network.is_built()) file.refuse("has a model that is not built; expected a built one");
  return network;
}

void compile(Model& model, Model::State& state, const model::ModelFile& file) {
  const model::CompileAgain again =
      file.in_part("compile", [&] { return model::compile_again(file.parts().compile, model.AnyLayer::layer()->output_names()); });
  if (!again.missing.empty()) {
    state.not_saved = again.missing;
    log_warning(fmt::format("load_model: the file has not {}: compile() the model anew before it is trained or evaluated.",
                            fmt::join(again.missing, ", nor ")));
    return;
  }
  const Optimizer& optimizer = again.options.optimizer;
  file.in_part("compile", [&] {
    model::expect_slots(file, optimizer);
    if (model::has_slots(file)) model::build_slots(optimizer, model);
    model.compile(again.options);
  });
  model::Assignments values(file);
  values.add_optimizer(optimizer);
  values.make();
}

}  // namespace

Model load_model(const std::filesystem::path& file) {
  const model::ModelFile saved("load_model", file);
  const AnyLayer network = network_of(saved);
  model::Assignments weights(saved);
  weights.add_weights(network);
  weights.make();
  Model model(network);
  if (!saved.parts().compile.is_null()) compile(model, Model::State::of(model, "load_model"), saved);
  return model;
}

}  // namespace anyshape

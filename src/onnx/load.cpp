// The way in: a file's bytes, its graph, a model around it.
#include "base/cut_text.h"
#include "io/read_file.h"
#include "nn/layer_state.h"
#include "onnx/network.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::onnx {

static std::string whole_file(const std::filesystem::path& path) {
  ReadFile file(path);
  const auto refuse = [&](const std::string& problem) {
    throw FormatError(fmt::format("onnx: {} {}; expected an ONNX file.", whole_in_quotes(path.string()), problem));
  };
  if (!file.problem().empty()) refuse(file.problem());
  std::string bytes(static_cast<size_t>(file.size()), '\0');
  const int64_t read = file.read(bytes.data(), file.size());
  if (read < 0) refuse("cannot be read");
  bytes.resize(static_cast<size_t>(read));
  return bytes;
}

Model load(const std::filesystem::path& file, LoadOptions options) {
  auto network = std::make_shared<Network>(parse_model(whole_file(file), file.string()), file.string(), file.parent_path(), options);
  LayerState& state = network->state();
  state.name = options.name.empty() ? file.stem().string() : options.name;
  state.is_named = true;
  return Model(AnyLayer(std::move(network), [](const Layer& other) -> std::shared_ptr<Layer> {
    return std::make_shared<Network>(static_cast<const Network&>(other));
  }));
}

static const Network& network_of(const Model& model, const char* place) {
  const auto* const network = dynamic_cast<const Network*>(model.AnyLayer::layer().get());
  if (network == nullptr) throw ArgumentError(fmt::format("{}: the model was not made by onnx::load(); expected one that was.", place));
  return *network;
}

std::vector<TensorSpec> inputs(const Model& model) { return network_of(model, "onnx::inputs").input_specs(); }
std::map<std::string, std::string> metadata(const Model& model) { return network_of(model, "onnx::metadata").model().metadata; }

}  // namespace anyshape::onnx

// Whole models in a safetensors file: weights under their paths, every other tensor under a name that begins with a slash, as no path does, and texts
// in the metadata that say what the model is.
#pragma once
#include "function/random_state.h"

#include <anyshape/config.h>
#include <anyshape/option_fields.h>
#include <anyshape/tensor.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anyshape::model {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// What a name begins with that is no weight's.
inline constexpr std::string_view of_optimizer = "/optimizer/";
inline constexpr std::string_view of_counters = "/layers/";
inline constexpr std::string_view of_metrics = "/metrics/";
inline constexpr std::string_view of_callbacks = "/callbacks/";
inline bool is_weight(std::string_view name) { return !name.starts_with('/'); }

// The layers beside the architecture: see nn/layer_tree.h.
struct LayersPart {
  Dtype default_dtype = Dtype::f32;  // of the process that wrote the file
  Config network = {};
};

struct RandomPart {
  int64_t key = 0;
  int64_t next_call = 0;
  static RandomPart of(const function_detail::RandomPosition& position) {
    return {static_cast<int64_t>(position.key), static_cast<int64_t>(position.next_call)};
  }
  function_detail::RandomPosition position() const { return {static_cast<uint64_t>(key), static_cast<uint64_t>(next_call)}; }
};

struct ModelParts {
  Config architecture = {};   // none: `why_none` says why
  std::string why_none = {};  // of a file that training goes on from, where no config can make the network
  LayersPart layers = {};
  Config compile = {};  // none: it was not compiled; see compile_config.h
  RandomPart random = {};
  Config fit = {};  // none: it was not saved inside a fit; see fit_part.h
};

// A layer takes more memory than it takes in a file.
int64_t most_layers(int64_t file_bytes);

// Whole or not at all. ArgumentError for what could not be read again.
void write_model_file(const std::filesystem::path& file, const ModelParts& parts, const NamedTensors& tensors);

class ModelFile {
 public:
  // `what` is who asks: "load_model". FormatError for what is no such file, or of a newer format.
  ModelFile(std::string what, std::filesystem::path file);

  const ModelParts& parts() const { return parts_; }
  int64_t bytes() const { return bytes_; }  // of the file
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  std::map<std::string, Tensor> tensors_of(std::string_view begin) const;  // by what follows

  [[noreturn]] void refuse(std::string_view what) const;  // FormatError: `load_model: "file" ...`
  // What the body says is wrong becomes a FormatError of the part; only a lack of memory and bugs of ours stay what they are.
  template <class Body>
  auto in_part(std::string_view part, const Body& body) const {
    try {
      return body();
    } catch (const FormatError&) {
      throw;
    } catch (const OutOfMemory&) {
      throw;
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      refuse_part(part, error);
    }
  }

 private:
  [[noreturn]] void refuse_part(std::string_view part, const Error& error) const;

  std::string what_;
  std::filesystem::path file_;
  int64_t bytes_ = 0;
  ModelParts parts_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace anyshape::model

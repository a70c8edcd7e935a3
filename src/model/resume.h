// A file from which a fit goes on.
#pragma once
#include "model/fit_part.h"
#include "model/saved_state.h"

#include <optional>

namespace anyshape::model {

class Resume {
 public:
  explicit Resume(const std::filesystem::path& file);  // FormatError for what no fit wrote

  const FitPart& part() const { return part_; }
  function_detail::RandomPosition random() const { return file_.parts().random.position(); }
  History history() const;

  // Before anything is changed: weights, optimizer, metrics and data are those of the fit that wrote the file. FormatError otherwise. The model is built.
  void require_fit(const Model& model, const Compiled& compiled, const Extent& extent);
  void set_variables() const { values_->make(); }
  void set_metrics(const Compiled& compiled) const;
  void set_callbacks(const std::vector<AnyCallback>& callbacks) const;  // those of a class in their order
  // The epoch's data again, up to the batch that comes next; that is given where it was drawn before the file was written.
  std::optional<Batch> replay(Batches& batches, Runs& calls) const;
  uint64_t drawn() const;  // calls that had drawn numbers before the last batch of these

 private:
  void require_best_weights(const Model& model) const;
  std::string metric_name(size_t metric, const std::string& sum) const;

  ModelFile file_;
  FitPart part_;
  std::optional<Assignments> values_;
};

}  // namespace anyshape::model

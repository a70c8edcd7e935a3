// What rows are called in texts: by their numbers in the user's tensors or dataset.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace anyshape::model {

struct RowNames {
  const char* what;                               // who asks: "fit"
  int64_t first = 0;                              // the number of the first row
  bool is_dataset = false;                        // whose rows are elements
  const std::vector<int64_t>* numbers = nullptr;  // of rows that do not stand one behind the other
  std::string of(int64_t row) const;              // "row 17", "element 17"
};

}  // namespace anyshape::model

// Sizes that a user gives by name, {"batch", 32}, read against the symbols of traces.
#pragma once
#include "function/trace_cache.h"
#include "shape/substitute.h"

#include <anyshape/function.h>

#include <string>
#include <string_view>
#include <vector>

namespace anyshape::function_detail {

class NamedSizes {
 public:
  // ArgumentError for a name that none of the traces has or that is given twice, and for a number that no call can have there. Errors begin
  // with the function's name and the method that was asked. The traces and the sizes outlive this.
  NamedSizes(std::string_view function, std::string_view asked, const std::vector<Entry>& entries, const std::vector<NamedSize>& sizes);

  Substitution of(const Signature& signature) const;              // what is given of a signature's symbols
  std::vector<int64_t> all_of(const Signature& signature) const;  // in the order of its symbols; ArgumentError where one is missing

 private:
  const NamedSize* find(std::string_view name) const;  // null where it is not given
  void require_known() const;
  void require_once() const;
  void require_possible() const;
  [[noreturn]] void refuse(const std::string& what) const;

  const std::string_view function_, asked_;
  const std::vector<Entry>& entries_;
  const std::vector<NamedSize>& sizes_;
};

}  // namespace anyshape::function_detail

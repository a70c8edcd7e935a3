// Names of classes.
#pragma once
#include <string>
#include <string_view>
#include <typeinfo>

namespace anyshape {

std::string class_name(const std::type_info& type);  // "Own", without the namespaces around it
std::string snake_case(std::string_view name);       // "GlobalMaxPooling1D" -> "global_max_pooling1d"

}  // namespace anyshape

// Names of sizes, from where arguments stand.
#include "function/argument_names.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <string_view>
#include <unordered_set>

namespace anyshape::function_detail {
namespace {

using Places = std::unordered_set<std::string_view>;

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }
bool may_stand_in_a_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.' ||
         static_cast<unsigned char>(letter) > 127;
}

// "x[0]" of "argument 2 (x[0])"; empty where the argument is no part of anything.
std::string_view path_of(std::string_view place) {
  const size_t begin = place.find(" ("), end = place.rfind(')');
  return begin == std::string_view::npos || end == std::string_view::npos ? std::string_view() : place.substr(begin + 2, end - begin - 2);
}

// 2 of "argument 2"; one that has no letter for an argument with parts.
size_t plain_number(std::string_view place) {
  constexpr std::string_view word = "argument ";
  size_t number = 26;
  if (!place.starts_with(word)) return number;
  const char* const end = place.data() + place.size();
  const auto [stop, error] = std::from_chars(place.data() + word.size(), end, number);
  return error == std::errc() && stop == end ? number : 26;
}

// The index of a vector with one element says nothing.
std::string_view without_lone_index(std::string_view path, std::string_view place, const Places& places) {
  if (!path.ends_with("[0]")) return path;
  std::string second(place);
  second[second.rfind("[0]") + 1] = '1';
  return places.contains(second) ? path : path.substr(0, path.size() - 3);
}

std::string name_of(std::string_view place, const Places& places) {
  const std::string_view path = without_lone_index(path_of(place), place, places);
  std::string name;
  for (const char letter : path) {
    if (may_stand_in_a_name(letter)) name += letter;
  }
  if (const size_t rest = place.rfind(')'); !name.empty() && rest + 1 < place.size())
    name += "_" + std::string(place.substr(place.rfind(' ') + 1));
  if (name.empty() || is_digit(name.front()) || name.front() == '.') return "";
  return is_digit(name.back()) ? name + "_" : name;
}

}  // namespace

std::vector<std::string> argument_names(size_t arguments, std::span<const std::string> places) {
  const Places all(places.begin(), places.end());
  std::unordered_set<std::string> taken;
  std::vector<std::string> names;
  const auto is_free = [&](const std::string& name) { return !name.empty() && !taken.contains(name); };
  for (size_t argument = 0; argument < arguments; ++argument) {
    std::string name = argument < places.size() ? name_of(places[argument], all) : std::string();
    if (const size_t number = argument < places.size() ? plain_number(places[argument]) : argument; !is_free(name) && number < 26)
      name = std::string(1, static_cast<char>('a' + number));
    if (!is_free(name)) name = argument < 26 ? std::string(1, static_cast<char>('a' + argument)) : fmt::format("x{}_", argument);
    if (!is_free(name)) name = fmt::format("argument{}_", argument);
    taken.insert(name);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace anyshape::function_detail

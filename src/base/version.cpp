// The version of the library, as it was compiled.
#include <anyshape/version.h>

namespace anyshape {

std::string_view version() { return version_text; }

}  // namespace anyshape

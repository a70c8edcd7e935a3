// Dtypes on streams.
#include <anyshape/dtype.h>

#include <ostream>

namespace anyshape {

std::ostream& operator<<(std::ostream& out, Dtype dtype) { return out << to_string(dtype); }

}  // namespace anyshape

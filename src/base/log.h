// Warnings of the library: the only text it writes besides fit's progress. The public half, anyshape/log.h, replaces the sink.
#pragma once
#include <anyshape/log.h>

#include <string_view>

namespace anyshape {

// Hands one line to the sink. A sink that throws is not asked again for this line, and the caller does not notice.
void log_warning(std::string_view text) noexcept;

// While one lives, this thread's warnings go nowhere.
class QuietLog {
 public:
  QuietLog();
  ~QuietLog();
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
};

}  // namespace anyshape

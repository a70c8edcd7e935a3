// Where warnings go: standard error, unless the program gives a sink of its own.
#pragma once
#include <functional>
#include <string_view>

#pragma GCC visibility push(default)
namespace anyshape {

using LogSink = std::function<void(std::string_view)>;

/// Sends every later warning (one line, without its line end) to `sink`, which may be called from several threads. An empty one restores standard error.
void set_log_sink(LogSink sink);

}  // namespace anyshape
#pragma GCC visibility pop

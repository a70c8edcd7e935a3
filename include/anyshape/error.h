// The exceptions of the library: one small hierarchy, so that a program can tell bad shapes from bad files from our own bugs.
#pragma once
#include <stdexcept>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

/// The base of everything the library throws. Texts read `<op or place>: <what is wrong>: <values>; expected <rule>. <what to do>`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ranks, axes and sizes that do not fit an op's rule.
class ShapeError : public Error {
  using Error::Error;
};
/// An element type an op does not take.
class DtypeError : public Error {
  using Error::Error;
};
/// A call outside a function's declared signature.
class SignatureError : public Error {
  using Error::Error;
};
/// Something a trace cannot hold, or a value that left its trace.
class TraceError : public Error {
  using Error::Error;
};
/// Unknown names, bad options, unbuilt state.
class ArgumentError : public Error {
  using Error::Error;
};
/// Bad values in data: indices, labels, missing numbers.
class DataError : public Error {
  using Error::Error;
};
/// A file or text that cannot be read.
class FormatError : public Error {
  using Error::Error;
};
/// A buffer that could not be had; the text names the bytes.
class OutOfMemory : public Error {
  using Error::Error;
};
/// A bug of ours.
class InternalError : public Error {
  using Error::Error;
};

}  // namespace anyshape
#pragma GCC visibility pop

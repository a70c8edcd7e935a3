// The exceptions of the library: one small hierarchy, so that a program can tell bad shapes from bad files from our own bugs.
#pragma once
#include <stdexcept>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

// The base of everything the library throws. Texts read `<op or place>: <what is wrong>: <values>; expected <rule>. <what to do>`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ShapeError : public Error {
  using Error::Error;
};  // ranks, axes and sizes that do not fit an op's rule
class DtypeError : public Error {
  using Error::Error;
};  // an element type an op does not take
class SignatureError : public Error {
  using Error::Error;
};  // a call outside a function's declared signature
class TraceError : public Error {
  using Error::Error;
};  // something a trace cannot hold, or a value that left its trace
class ArgumentError : public Error {
  using Error::Error;
};  // unknown names, bad options, unbuilt state
class DataError : public Error {
  using Error::Error;
};  // bad values in data: indices, labels, missing numbers
class FormatError : public Error {
  using Error::Error;
};  // a file or text that cannot be read
class OutOfMemory : public Error {
  using Error::Error;
};  // a buffer that could not be had; the text names the bytes
class InternalError : public Error {
  using Error::Error;
};  // a bug of ours

}  // namespace anyshape
#pragma GCC visibility pop

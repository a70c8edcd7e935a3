// Everything: `#include <anyshape/anyshape.h>`, `namespace as = anyshape;`.
#pragma once
#include <anyshape/dim.h>
#include <anyshape/dtype.h>
#include <anyshape/error.h>
#include <anyshape/function.h>
#include <anyshape/gradient.h>
#include <anyshape/io.h>
#include <anyshape/ledger.h>
#include <anyshape/log.h>
#include <anyshape/ops.h>
#include <anyshape/random.h>
#include <anyshape/shape.h>
#include <anyshape/spec.h>
#include <anyshape/stateful.h>
#include <anyshape/structure.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

// Operations on tensors, by family.
#pragma once
#include <anyshape/ops/attention.h>
#include <anyshape/ops/bitwise.h>
#include <anyshape/ops/contraction.h>
#include <anyshape/ops/elementwise.h>
#include <anyshape/ops/hyperbolic.h>
#include <anyshape/ops/image.h>
#include <anyshape/ops/index.h>
#include <anyshape/ops/make.h>
#include <anyshape/ops/movement.h>
#include <anyshape/ops/neural.h>
#include <anyshape/ops/reduce.h>
#include <anyshape/ops/scatter.h>
#include <anyshape/ops/segment.h>

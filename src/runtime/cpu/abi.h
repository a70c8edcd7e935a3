/* The kernel ABI: where generated code and the runtime meet. C, so that any emitter can follow it. */
#ifndef ANYSHAPE_RUNTIME_CPU_ABI_H
#define ANYSHAPE_RUNTIME_CPU_ABI_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AsContext AsContext;

/* A part of a Parallel loop: iterations begin <= i < end. `frame` holds the scalars of the enclosing block. */
typedef int32_t (*AsBody)(AsContext* context, void* const* buffers, const int64_t* dims, const int64_t* frame, int64_t begin, int64_t end);

/* The first failure of a run: the lowest failing op, where in it, and the offending value. code 0: none. */
typedef struct AsFailure {
  int32_t code; /* 0 none, 1 index out of range, 2 library routine failed, 3 row splits out of order, 4 empty row, 5 rows differ */
  int32_t op;
  int64_t index;
  int64_t value;
} AsFailure;

struct AsContext {
  int32_t device; /* 0: this machine's processor */
  void* stream;   /* reserved for devices with queues */
  void* pool;     /* anyshape::runtime::Pool */
  /* Runs `body` over [0, count) in parts of at least `grain`, on the pool; returns the first non-zero result. */
  int32_t (*parallel)(AsContext* context, AsBody body, void* const* buffers, const int64_t* dims, const int64_t* frame, int64_t begin,
                      int64_t end, int64_t grain);
  uint64_t random_key;
  uint64_t call_id;
  AsFailure failure;
};

/* A compiled kernel. 0: all went well; else context->failure says what did not. */
typedef int32_t (*AsKernel)(AsContext* context, void* const* buffers, const int64_t* dims);

/* A library routine called from a kernel: pointers (already offset) and integers as the routine's documentation lists them. */
typedef int32_t (*AsExtern)(AsContext* context, void* const* pointers, const int64_t* integers);

#ifdef __cplusplus
}
#endif
#endif

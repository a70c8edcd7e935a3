# What a user may choose (docs/internals/building.md). The presets of CMakePresets.json are the developers': warnings are errors there, and the code needs AVX2.
option(ANYSHAPE_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(ANYSHAPE_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(ANYSHAPE_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(ANYSHAPE_WERROR "Take warnings for errors" OFF)
set(ANYSHAPE_BASELINE "" CACHE STRING "Processor that code compiled ahead of time may count on, as for -march; empty: the compiler's default")
set(ANYSHAPE_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize")

# The WebAssembly modules. WebAssembly has no way to mix instruction sets in one module, so there are two, chosen at
# run time; both export the same functions, so one glue file serves them, and the build fails should they differ.
#
#   build/wasm/id2vec.mjs, id2vec.d.mts              glue and its types
#   build/wasm/id2vec.simd128.wasm, id2vec.relaxed.wasm
#   build/wasm/id2vec.eigen.wasm                     what only `factorize` needs (see src/tools/symmetric_eigen.h)

set(COMPILE_FLAGS -fno-exceptions -fno-rtti -DEMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)

# ABORTING_MALLOC=0: a table that does not fit is a null pointer, hence a Status, and not the end of the module.
# MEMORY_GROWTH_LINEAR_STEP: grow by what is asked for (and 1 MB at least), where the default adds a fifth.
# DYNAMIC_EXECUTION=0: no eval, so that a page's content security policy need not allow it.
set(LINK_FLAGS
  -fno-exceptions -fno-rtti --bind --no-entry
  -sEXPORT_ES6 -sMODULARIZE -sENVIRONMENT=web,worker -sFILESYSTEM=0 -sDYNAMIC_EXECUTION=0 -sASSERTIONS=0
  -sINITIAL_MEMORY=1MB -sMAXIMUM_MEMORY=4GB -sALLOW_MEMORY_GROWTH -sMEMORY_GROWTH_LINEAR_STEP=1MB
  -sMALLOC=emmalloc -sABORTING_MALLOC=0
  -sINCOMING_MODULE_JS_API=instantiateWasm -sEXPORTED_RUNTIME_METHODS=HEAPU8)

# Types of what embind.cpp exports, written by running the linked module; the same for both. Emscripten calls tsc.
find_program(TSC tsc REQUIRED)
set(TYPES_FLAG --emit-tsd id2vec.d.mts)

file(GLOB BINDING_SOURCES CONFIGURE_DEPENDS bindings/*.cpp)

# Only the kernels and the binding know which module they are in; all else is compiled once for both.
set(SHARED_SOURCES ${CORE_SOURCES})
list(FILTER SHARED_SOURCES EXCLUDE REGEX "/src/kernels/|/src/tools/symmetric_eigen")
add_library(shared OBJECT ${SHARED_SOURCES})
target_compile_options(shared PRIVATE ${COMPILE_FLAGS} -msimd128)

# What is not a loop over weights is built for size: a page downloads it, and a header is read once. So is the scalar
# reference, which serves tests and formats' definitions; the SIMD kernels do the work.
file(GLOB SMALL_SOURCES CONFIGURE_DEPENDS src/core/*.cpp src/containers/*.cpp src/model/*.cpp src/tools/*.cpp)
# Turning a stored table round is a loop over weights too.
list(FILTER SMALL_SOURCES EXCLUDE REGEX "/src/model/convert.cpp")
set_source_files_properties(${SMALL_SOURCES} ${BINDING_SOURCES} src/kernels/scalar.cpp PROPERTIES COMPILE_OPTIONS -Oz)

function(add_module name)
  cmake_parse_arguments(MODULE "" "" "WITHOUT;COMPILE;LINK" ${ARGN})
  set(kernels ${CORE_SOURCES})
  list(FILTER kernels INCLUDE REGEX "/src/kernels/")
  list(REMOVE_ITEM kernels ${MODULE_WITHOUT})
  add_executable(${name} $<TARGET_OBJECTS:shared> ${kernels} ${BINDING_SOURCES})
  # The glue names its wasm file; the same name in two folders keeps the two glue files comparable.
  set_target_properties(${name} PROPERTIES
    OUTPUT_NAME id2vec.simd128 SUFFIX .mjs RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/modules/${name})
  target_compile_options(${name} PRIVATE ${COMPILE_FLAGS} ${MODULE_COMPILE})
  target_link_options(${name} PRIVATE ${LINK_FLAGS} ${MODULE_COMPILE} ${MODULE_LINK})
endfunction()

add_module(simd128 COMPILE -msimd128 WITHOUT ${CMAKE_SOURCE_DIR}/src/kernels/relaxed.cpp LINK ${TYPES_FLAG})
add_module(relaxed COMPILE -msimd128 -mrelaxed-simd WITHOUT ${CMAKE_SOURCE_DIR}/src/kernels/simd128.cpp)

# Eigen's solver is as large as the core, and only one command needs it.
add_executable(eigen bindings/eigen/module.cpp src/tools/symmetric_eigen.cpp src/core/status.cpp
  src/core/text.cpp)
target_include_directories(eigen SYSTEM PRIVATE ${EIGEN_FOLDER})
target_compile_options(eigen PRIVATE -fno-exceptions -fno-rtti -msimd128 -DNDEBUG)
set_target_properties(eigen PROPERTIES OUTPUT_NAME id2vec.eigen SUFFIX .wasm)
target_link_options(eigen PRIVATE -fno-exceptions -fno-rtti -msimd128 --no-entry -sSTANDALONE_WASM -sFILESYSTEM=0
  -sINITIAL_MEMORY=1MB -sMAXIMUM_MEMORY=4GB -sALLOW_MEMORY_GROWTH -sMALLOC=emmalloc -sABORTING_MALLOC=0)

set(MODULES ${CMAKE_BINARY_DIR}/modules)
add_custom_target(package_files ALL
  COMMAND ${CMAKE_COMMAND} -E compare_files
    ${MODULES}/simd128/id2vec.simd128.mjs ${MODULES}/relaxed/id2vec.simd128.mjs
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${MODULES}/simd128/id2vec.simd128.mjs id2vec.mjs
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${MODULES}/simd128/id2vec.d.mts id2vec.d.mts
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${MODULES}/simd128/id2vec.simd128.wasm id2vec.simd128.wasm
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${MODULES}/relaxed/id2vec.simd128.wasm id2vec.relaxed.wasm
  DEPENDS simd128 relaxed eigen
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  COMMENT "One glue for both modules" VERBATIM)

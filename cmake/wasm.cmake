# The WebAssembly modules. WebAssembly has no way to mix instruction sets in one module, so there are two of each kind,
# chosen at run time; both export the same functions, so one glue file serves them, and the build fails should they
# differ. What most pages never call is in modules of their own kind, so that they do not download it: a full module
# reads every container, and it has the encoders, the writers and the factorization.
#
#   build/wasm/id2vec.mjs, id2vec.d.mts                  glue and its types
#   build/wasm/id2vec.simd128.wasm, .relaxed.wasm        GGUF, every weight format, every model stage
#   build/wasm/id2vec.extra.simd128.wasm, .relaxed.wasm  the second part of these: safetensors, geometry, training
#   build/wasm/id2vec.full.mjs, id2vec.full.d.mts        the same of the full modules
#   build/wasm/id2vec.full.simd128.wasm, .relaxed.wasm   and the rest: bindings/full, src/containers/readers.cpp

# Every engine with SIMD has the other two, which make code smaller: a double becomes an integer, and memory is copied,
# by one instruction.
set(COMPILE_FLAGS -fno-exceptions -fno-rtti -DEMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0
  -msimd128 -mnontrapping-fptoint -mbulk-memory)

# ABORTING_MALLOC=0: a table that does not fit is a null pointer, hence a Status, and not the end of the module.
# MEMORY_GROWTH_LINEAR_STEP: grow by what is asked for (and 1 MB at least), where the default adds a fifth.
# DYNAMIC_EXECUTION=0: no eval, so that a page's content security policy need not allow it.
# WASM_BIGINT, TEXTDECODER, POLYFILL, MIN_…: a smaller glue, for engines that have SIMD (and so all of these).
# -Oz is for wasm-opt, which the linker runs: the loops have been optimised for speed by then.
set(LINK_FLAGS -Oz
  -fno-exceptions -fno-rtti --no-entry
  -sEXPORT_ES6 -sMODULARIZE -sENVIRONMENT=web,worker -sFILESYSTEM=0 -sDYNAMIC_EXECUTION=0 -sASSERTIONS=0
  -sINITIAL_MEMORY=1MB -sMAXIMUM_MEMORY=4GB -sALLOW_MEMORY_GROWTH -sMEMORY_GROWTH_LINEAR_STEP=1MB
  -sMALLOC=emmalloc -sABORTING_MALLOC=0
  -sINCOMING_MODULE_JS_API=instantiateWasm -sEXPORTED_RUNTIME_METHODS=HEAPU8 -sWASM_BIGINT -sTEXTDECODER=2 -sPOLYFILL=0
  -sMIN_CHROME_VERSION=91 -sMIN_FIREFOX_VERSION=89 -sMIN_SAFARI_VERSION=160400)

# Types of what the bindings export, written by running the linked module; the same for both of a kind. Emscripten calls
# tsc.
find_program(TSC tsc REQUIRED)

file(GLOB BINDING_SOURCES CONFIGURE_DEPENDS bindings/*.cpp)
file(GLOB COMMON_SOURCES CONFIGURE_DEPENDS bindings/common/*.cpp)
file(GLOB FULL_SOURCES CONFIGURE_DEPENDS bindings/full/*.cpp)
set(ALL_READERS ${CMAKE_SOURCE_DIR}/src/containers/readers.cpp)
set(COMMON_READERS ${CMAKE_SOURCE_DIR}/src/containers/common_readers.cpp)

# Only the kernels and embind.cpp know which instruction set they are built for; all else is compiled once. The linker
# leaves out what a module does not reach.
set(KERNEL_SOURCES ${CORE_SOURCES})
list(FILTER KERNEL_SOURCES INCLUDE REGEX "/src/kernels/")
list(APPEND KERNEL_SOURCES ${CMAKE_SOURCE_DIR}/bindings/embind.cpp)
set(SHARED_SOURCES ${CORE_SOURCES} ${BINDING_SOURCES})
list(REMOVE_ITEM SHARED_SOURCES ${KERNEL_SOURCES} ${ALL_READERS})

# What is not a loop over weights is built for size: a page downloads it, and a header is read once. So is the scalar
# reference, which serves tests and formats' definitions; the SIMD kernels do the work.
file(GLOB SMALL_SOURCES CONFIGURE_DEPENDS src/core/*.cpp src/containers/*.cpp src/model/*.cpp src/tools/*.cpp)
# Turning a stored table round is a loop over weights (see below), and so are the sweeps of an eigenvalue solver.
list(FILTER SMALL_SOURCES EXCLUDE REGEX "/src/model/convert.cpp|/src/tools/symmetric_eigen.cpp")
# Of the formats, what only speaks of them.
list(APPEND SMALL_SOURCES ${CMAKE_SOURCE_DIR}/src/formats/catalog.cpp)
set_source_files_properties(${SMALL_SOURCES} ${BINDING_SOURCES} ${COMMON_SOURCES} ${FULL_SOURCES} src/kernels/scalar.cpp
  PROPERTIES COMPILE_OPTIONS -Oz)
# Loops over one vector at a time, around the kernels: vectors of four, but nothing unrolled.
file(GLOB STAGE_SOURCES CONFIGURE_DEPENDS src/table/*.cpp src/stage/*.cpp src/search/*.cpp src/training/*.cpp)
list(APPEND STAGE_SOURCES ${CMAKE_SOURCE_DIR}/src/model/convert.cpp)
set_source_files_properties(${STAGE_SOURCES} PROPERTIES COMPILE_OPTIONS -Os)

function(add_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_compile_options(${name} PRIVATE ${COMPILE_FLAGS})
  target_include_directories(${name} PRIVATE bindings)
endfunction()
add_objects(shared ${SHARED_SOURCES})
add_objects(common ${COMMON_READERS} ${COMMON_SOURCES})
add_objects(full ${ALL_READERS} ${FULL_SOURCES})
target_include_directories(shared SYSTEM PRIVATE ${EIGEN_FOLDER})

function(add_kernels isa without)
  set(sources ${KERNEL_SOURCES})
  list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/src/kernels/${without}.cpp)
  add_objects(kernels_${isa} ${sources})
  target_compile_options(kernels_${isa} PRIVATE ${ARGN})
endfunction()
add_kernels(simd128 relaxed)
add_kernels(relaxed simd128 -mrelaxed-simd)

# add_module(simd128 id2vec common): the module, and its glue, which names its wasm file: one name in two folders keeps
# the two glue files comparable.
function(add_module isa name readers)
  set(target ${readers}_${isa})
  add_executable(${target} $<TARGET_OBJECTS:shared> $<TARGET_OBJECTS:kernels_${isa}> $<TARGET_OBJECTS:${readers}>)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}.simd128 SUFFIX .mjs RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/modules/${isa})
  target_link_options(${target} PRIVATE ${LINK_FLAGS} ${COMPILE_FLAGS} ${ARGN})
  # As a library, which comes behind the objects: bindings/types.cpp stands in for a part of it.
  target_link_libraries(${target} PRIVATE embind)
endfunction()

set(MODULES ${CMAKE_BINARY_DIR}/modules)

# The common modules are cut in two after they are linked: a quantized GGUF model hardly calls what these sources alone
# define. Both parts work on one memory and one table of functions (bindings/js/core.ts puts them together), so the second
# one can come at any time. Cutting goes by names, so the linker keeps them, and no function may stand in for another
# that is equal to it by chance; both parts are optimised again afterwards.
set(EXTRA_SOURCES /src/training/
  /bindings/training.cpp /bindings/geometry.cpp /src/search/similarity.cpp
  /src/containers/safetensors.cpp /src/containers/shard_index.cpp /src/containers/json.cpp /src/containers/config.cpp
  /src/model/convert.cpp /src/model/stored.cpp /src/model/mlx_source.cpp /src/model/hinted_source.cpp)
set(KEEP_NAMES --profiling-funcs -Wl,--no-demangle
  -sBINARYEN_EXTRA_PASSES=--skip-pass=duplicate-function-elimination)

function(cut_module isa)
  set(folder ${MODULES}/${isa})
  set(objects $<TARGET_OBJECTS:shared> $<TARGET_OBJECTS:kernels_${isa}> $<TARGET_OBJECTS:common>)
  add_custom_command(OUTPUT id2vec.${isa}.wasm id2vec.extra.${isa}.wasm
    COMMAND node ${CMAKE_SOURCE_DIR}/scripts/cut-module.mjs ${folder}/id2vec.simd128.wasm
      id2vec.${isa}.wasm id2vec.extra.${isa}.wasm "$<JOIN:${EXTRA_SOURCES},|>" ${objects}
    DEPENDS common_${isa} ${CMAKE_SOURCE_DIR}/scripts/cut-module.mjs
    COMMENT "Cutting id2vec.${isa}.wasm in two" COMMAND_EXPAND_LISTS VERBATIM)
endfunction()
function(add_kind name readers)
  add_module(simd128 ${name} ${readers} --emit-tsd ${name}.d.mts ${ARGN})
  add_module(relaxed ${name} ${readers} -mrelaxed-simd ${ARGN})
  add_custom_target(files_${readers} ALL
    COMMAND ${CMAKE_COMMAND} -E compare_files
      ${MODULES}/simd128/${name}.simd128.mjs ${MODULES}/relaxed/${name}.simd128.mjs
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${MODULES}/simd128/${name}.simd128.mjs ${name}.mjs
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${MODULES}/simd128/${name}.d.mts ${name}.d.mts
    DEPENDS ${readers}_simd128 ${readers}_relaxed
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    COMMENT "One glue for both modules of ${name}" VERBATIM)
endfunction()
add_kind(id2vec common ${KEEP_NAMES})
cut_module(simd128)
cut_module(relaxed)
add_kind(id2vec.full full)
foreach(isa simd128 relaxed)
  add_custom_command(OUTPUT id2vec.full.${isa}.wasm
    COMMAND ${CMAKE_COMMAND} -E copy ${MODULES}/${isa}/id2vec.full.simd128.wasm id2vec.full.${isa}.wasm
    DEPENDS full_${isa} VERBATIM)
  list(APPEND WASM_FILES id2vec.${isa}.wasm id2vec.full.${isa}.wasm)
endforeach()
add_custom_target(wasm_files ALL DEPENDS ${WASM_FILES})

# The core on the machine that compiles, SIMD kernels included: SIMDe stands in for the WebAssembly intrinsics.
#
#   id2vec           the library, optimised                  (on demand)
#   id2vec_tests     tests/cpp/*.cpp under AddressSanitizer and UndefinedBehaviorSanitizer
#   *_fuzz           tests/fuzz/*_fuzz.cpp, the same with libFuzzer        (Clang only)
#   *_bench          tests/bench/*.cpp, optimised for this machine         (on demand: target `bench`)

find_path(SIMDE_FOLDER simde/wasm/simd128.h REQUIRED)

# The kernels' shuffles need SSSE3 and SSE4.1; without this flag SIMDe would emulate them lane by lane.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  add_compile_options(-march=x86-64-v2)
endif()

# Clang warns of a deprecated function inside libstdc++ 12 itself (std::stable_sort uses it).
add_compile_options(-Wno-deprecated-declarations)

# Exceptions are off for the core only: GoogleTest is built with them.
function(add_core name)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${CORE_SOURCES})
  target_compile_options(${name} PRIVATE -fno-exceptions)
  target_include_directories(${name} SYSTEM BEFORE PUBLIC ${CMAKE_SOURCE_DIR}/cmake/native ${SIMDE_FOLDER})
  target_include_directories(${name} SYSTEM PRIVATE ${EIGEN_FOLDER})
endfunction()

add_core(id2vec)

set(SANITIZE -O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -UNDEBUG
  -D_GLIBCXX_ASSERTIONS)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # One library serves tests and fuzz targets: the coverage counters cost the tests little.
  set(COVERAGE -fsanitize=fuzzer-no-link)
endif()
add_core(id2vec_sanitized)
target_compile_options(id2vec_sanitized PUBLIC ${SANITIZE} ${COVERAGE})
target_link_options(id2vec_sanitized PUBLIC -fsanitize=address,undefined)

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS tests/cpp/*.cpp)
if(TEST_SOURCES)
  find_package(GTest REQUIRED)
  enable_testing()
  add_executable(id2vec_tests ${TEST_SOURCES})
  target_compile_definitions(id2vec_tests PRIVATE ID2VEC_ROOT="${CMAKE_SOURCE_DIR}")
  target_include_directories(id2vec_tests PRIVATE tests)
  target_link_libraries(id2vec_tests PRIVATE id2vec_sanitized GTest::gtest_main GTest::gmock)
  add_test(NAME cpp COMMAND id2vec_tests)
endif()

file(GLOB FUZZ_SOURCES CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cpp)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  foreach(source ${FUZZ_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE tests)
    target_link_libraries(${name} PRIVATE id2vec_sanitized)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  endforeach()
endif()

file(GLOB BENCH_SOURCES CONFIGURE_DEPENDS tests/bench/*.cpp)
add_custom_target(bench)
foreach(source ${BENCH_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE id2vec)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(bench ${name})
endforeach()

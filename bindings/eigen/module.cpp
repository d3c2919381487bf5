// A module of its own, of one function: the eigenvectors of a symmetric matrix. It imports nothing that matters, so it
// needs no glue: JavaScript allocates, writes the matrix, calls, and reads.
#include <cstdint>
#include <cstdlib>

#include "tools/symmetric_eigen.h"

#define ID2VEC_EXPORT(name) extern "C" __attribute__((export_name(name)))

// 0 where there is no more memory.
ID2VEC_EXPORT("allocate") void* id2vec_allocate(size_t bytes) { return std::malloc(bytes); }

ID2VEC_EXPORT("release") void id2vec_release(void* address) { std::free(address); }

// matrix: double [n, n]; values: double [n]. See tools/symmetric_eigen.h. Returns the status code, 0 for success.
ID2VEC_EXPORT("symmetricEigen") int id2vec_symmetric_eigen(double* matrix, size_t n, double* values) {
  return static_cast<int>(id2vec::symmetric_eigen({matrix, n * n}, {values, n}).code());
}

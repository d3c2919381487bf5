// Working memory of one call, uninitialised. Where the allocator says no, that is a Status and not an abort.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "core/status.h"
#include "core/text.h"

namespace id2vec {

template <class T>
class Values {
 public:
  static Result<Values> of(size_t count) {
    Values values;
    values.size_ = count;
    if (count == 0) return values;
    if (count <= SIZE_MAX / sizeof(T)) values.data_.reset(new (std::nothrow) T[count]);
    if (!values.data_) {
      return fail(Code::kOutOfMemory, "There is no memory for ", count, " working values of ", sizeof(T),
                  " bytes; split the call into smaller batches.");
    }
    return values;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  std::span<T> first(size_t count) { return {data_.get(), count}; }
  std::span<T> all() { return {data_.get(), size_}; }

 private:
  std::unique_ptr<T[]> data_;
  size_t size_ = 0;
};

}  // namespace id2vec

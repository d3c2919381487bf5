// The way of bytes into a table that does not hold them as the file does: see Conversion.
#include <cstring>

#include "model/convert.h"
#include "model/model.h"

namespace id2vec {

void put_stored(const TableSource& source, uint32_t plane, uint64_t at, Bytes chunk, Table& table) {
  if (source.conversion == Conversion::kMxfp4) {
    return plane == 0 ? put_mxfp4_codes(at, chunk, table.plane(0).data())
                      : put_mxfp4_exponents(at, chunk, table.plane(0).data());
  }
  uint8_t* to = table.plane(plane).data();
  if (source.conversion == Conversion::kStrided && plane == 0) {
    scatter(source.layout, at, chunk, to);
  } else if (source.conversion == Conversion::kZeroPoints && plane == 2) {
    spread(source.zero_points, at, chunk, to);
  } else {
    std::memcpy(to + at, chunk.data(), chunk.size());
  }
}

bool holds_stored(const TableSource& source, uint32_t plane, uint64_t at, Bytes chunk, Table& table) {
  if (source.conversion == Conversion::kMxfp4) {
    return plane == 0 ? holds_mxfp4_codes(at, chunk, table.plane(0).data())
                      : holds_mxfp4_exponents(at, chunk, table.plane(0).data());
  }
  const uint8_t* held = table.plane(plane).data();
  if (source.conversion == Conversion::kStrided && plane == 0)
    return already_there(source.layout, at, chunk, held);
  if (source.conversion == Conversion::kZeroPoints && plane == 2)
    return already_spread(source.zero_points, at, chunk, held);
  return std::memcmp(held + at, chunk.data(), chunk.size()) == 0;
}

}  // namespace id2vec

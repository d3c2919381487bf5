// What a file says of its model, and the row of its family, as the numbers of one profile.
#pragma once

#include <cstdint>
#include <string_view>

#include "containers/directory.h"
#include "model/profile.h"

namespace id2vec {

// The tensor that makes a table a factorized one: Bᵀ [d, k] beside A [V, k] (tools/factorize.h).
inline constexpr std::string_view kFactorProjection = "token_embd_projection.weight";

struct ProfileFacts {
  uint32_t hidden = 0;  // d: columns of the table, or rows of its projection where there is one
  bool tied = true;     // no head of its own
  std::string_view architecture = {};  // the caller's choice; empty: as the file says
};
// Every number of the profile, from the file's metadata and the family's row. A file that names no architecture,
// or an unknown one, gets the plain profile: rows in, dot products out.
Profile resolve_profile(const Directory& directory, const ProfileFacts& facts);

}  // namespace id2vec

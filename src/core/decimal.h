// Decimal text to double, without the locale (and without the weight of strtod).
#pragma once

#include <optional>
#include <string_view>

namespace id2vec {

// The whole of `text` as a number: [+-] digits [. digits] [e [+-] digits], at least one digit before or after
// the point. nullopt for anything else. Correctly rounded for up to 19 significant digits and results between
// about 1e-27 and 1e27 (everything a config or a word vector holds); a few units in the last place off beyond
// that; ±infinity and 0 where the value is too large or too small for a double.
std::optional<double> parse_decimal(std::string_view text);

}  // namespace id2vec

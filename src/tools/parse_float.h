// Decimal text to float, correct to the last bit: the float that is nearest to the decimal number, the even one of
// two that are equally near. (std::from_chars knows no floats in the C++ library of LLVM 19.)
#pragma once

#include <optional>
#include <string_view>

namespace id2vec {

// The whole of `text`: [+-] digits [. digits] [e [+-] digits], a digit before or after the point at least, up to
// 1,000 digits. Too large becomes ±infinity, too small ±0. nullopt for anything else ("nan", "", "1,5").
std::optional<float> parse_float(std::string_view text);

}  // namespace id2vec

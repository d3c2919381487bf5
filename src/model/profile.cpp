#include "model/profile.h"

#include <cmath>
#include <span>
#include <variant>

namespace id2vec {
namespace {

constexpr std::string_view kPositions[] = {"none", "learned", "sinusoidal-interleaved", "sinusoidal-halves"};
constexpr std::string_view kPositionIds[] = {"sequential", "cumulative-mask", "skip-padding"};
constexpr std::string_view kNorms[] = {"none", "layer-norm", "rms-norm"};
constexpr std::string_view kActivations[] = {"none", "gelu", "gelu-tanh", "relu"};

using Member = std::variant<std::string Profile::*, double Profile::*, bool Profile::*, int64_t Profile::*,
                            uint64_t Profile::*, Positions Profile::*, PositionIds Profile::*,
                            Norm Profile::*, Activation Profile::*>;

constexpr double kUnbounded = -1e300;
constexpr double kLargestInteger = 9007199254740992;  // 2⁵³: JavaScript numbers are exact up to here

// The one list of values: overrides, `info` and the JavaScript type follow it.
struct Field {
  std::string_view key;
  Member member;
  double minimum = kUnbounded;
};
const Field kFields[] = {
    {"architecture", &Profile::architecture},
    {"family", &Profile::family},
    {"embeddingScale", &Profile::embedding_scale},
    {"positions", &Profile::positions},
    {"positionIds", &Profile::position_ids},
    {"positionOffset", &Profile::position_offset, 0},
    {"norm", &Profile::norm},
    {"normEpsilon", &Profile::norm_epsilon, 0},
    {"projectionFirst", &Profile::projection_first},
    {"headThroughProjection", &Profile::head_through_projection},
    {"hiddenScale", &Profile::hidden_scale},
    {"headActivation", &Profile::head_activation},
    {"headNorm", &Profile::head_norm},
    {"logitScale", &Profile::logit_scale},
    {"softcap", &Profile::softcap, 0},
    {"perLayerScale", &Profile::per_layer_scale},
    {"normalize", &Profile::normalize},
    {"paddingId", &Profile::padding_id, -1},
    {"bosId", &Profile::bos_id, -1},
    {"eosId", &Profile::eos_id, -1},
    {"unknownId", &Profile::unknown_id, -1},
    {"vocabularySize", &Profile::vocabulary_size, 0},
    {"tieWordEmbeddings", &Profile::tie_word_embeddings, -1},
};

std::span<const std::string_view> words(Positions) { return kPositions; }
std::span<const std::string_view> words(PositionIds) { return kPositionIds; }
std::span<const std::string_view> words(Norm) { return kNorms; }
std::span<const std::string_view> words(Activation) { return kActivations; }

template <class T>
constexpr bool kIsWord = std::is_enum_v<T>;

std::string joined(std::span<const std::string_view> list) {
  std::string out;
  for (std::string_view word : list) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

Status invalid(std::string_view key, std::string_view problem) {
  return {Code::kInvalidArgument, "profile." + std::string(key) + std::string(problem)};
}

Status unknown_key(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const Field& field : kFields) keys.push_back(field.key);
  return {Code::kInvalidArgument,
          "a profile has no value \"" + std::string(key) + "\"; it has " + joined(keys) + "."};
}

const Field* find_field(std::string_view key) {
  for (const Field& field : kFields) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

Status set_word(const Field& field, Profile& profile, std::string_view value) {
  return std::visit(
      [&](auto member) -> Status {
        auto& target = profile.*member;
        using T = std::remove_reference_t<decltype(target)>;
        if constexpr (std::is_same_v<T, std::string>) {
          target = value;
          return {};
        } else if constexpr (kIsWord<T>) {
          const auto choices = words(T{});
          for (size_t i = 0; i < choices.size(); ++i) {
            if (choices[i] != value) continue;
            target = static_cast<T>(i);
            return {};
          }
          return invalid(field.key,
                         " cannot be \"" + std::string(value) + "\"; choose one of " + joined(choices) + ".");
        } else {
          return invalid(field.key, " is a number, and was given the text \"" + std::string(value) + "\".");
        }
      },
      field.member);
}

Status set_number(const Field& field, Profile& profile, double value) {
  return std::visit(
      [&](auto member) -> Status {
        auto& target = profile.*member;
        using T = std::remove_reference_t<decltype(target)>;
        if constexpr (std::is_same_v<T, std::string> || kIsWord<T>) {
          return invalid(field.key, " is a word, and was given a number.");
        } else {
          if (!std::isfinite(value) || value < field.minimum) {
            return invalid(field.key, field.minimum == kUnbounded ? " has to be a finite number."
                                      : field.minimum < 0         ? " has to be −1 (none) or more."
                                                          : " has to be a finite number of 0 or more.");
          }
          if constexpr (!std::is_same_v<T, double>) {
            if (value != std::floor(value) || value > kLargestInteger) {
              return invalid(field.key, " has to be a whole number.");
            }
          }
          target = static_cast<T>(value);
          return {};
        }
      },
      field.member);
}

ProfileEntry entry(const Field& field, const Profile& profile) {
  ProfileEntry out{.key = field.key};
  std::visit(
      [&](auto member) {
        const auto& value = profile.*member;
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          out.is_text = true;
          out.text = value;
        } else if constexpr (kIsWord<T>) {
          out.is_text = true;
          out.text = words(T{})[static_cast<size_t>(value)];
        } else {
          out.is_flag = std::is_same_v<T, bool>;
          out.number = static_cast<double>(value);
        }
      },
      field.member);
  return out;
}

}  // namespace

std::vector<ProfileEntry> profile_entries(const Profile& profile) {
  std::vector<ProfileEntry> out;
  for (const Field& field : kFields) out.push_back(entry(field, profile));
  return out;
}

Status override_profile(Profile& profile, std::string_view key, double value) {
  const Field* field = find_field(key);
  return field ? set_number(*field, profile, value) : unknown_key(key);
}

Status override_profile(Profile& profile, std::string_view key, std::string_view value) {
  const Field* field = find_field(key);
  return field ? set_word(*field, profile, value) : unknown_key(key);
}

}  // namespace id2vec

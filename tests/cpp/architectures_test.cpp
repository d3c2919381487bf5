// Every row of the table of architectures, from the metadata of a file to the numbers of its profile.
#include "model/architectures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "model/resolve_profile.h"
#include "small_table.h"

namespace id2vec {
namespace {

using Metadata = std::vector<std::pair<std::string, MetadataValue>>;

Profile profile_of(Metadata metadata, ProfileFacts facts = {.hidden = 64}) {
  return resolve_profile(directory_with(std::move(metadata)), facts);
}
Metadata gguf(std::string architecture, Metadata more = {}) {
  more.emplace_back("general.architecture", std::move(architecture));
  return more;
}
Metadata config(std::string model_type, Metadata more = {}) {
  more.emplace_back("config.model_type", std::move(model_type));
  return more;
}

TEST(Architectures, NamesAreClaimedOnce) {
  std::set<std::string_view> families;
  for (const Architecture& row : architectures()) {
    EXPECT_TRUE(families.insert(row.family).second) << row.family;
    EXPECT_FALSE(row.source.empty()) << row.family;
    std::string_view names = row.names;
    while (!names.empty()) {
      const size_t end = std::min(names.find(' '), names.size());
      EXPECT_EQ(architecture_by_name(names.substr(0, end)), &row) << names.substr(0, end);
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
}

TEST(Architectures, BothDialectsMeet) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"LlamaForCausalLM", "llama"},
      {"Qwen2ForCausalLM", "llama"},
      {"GPT2LMHeadModel", "gpt2"},
      {"XLMRobertaForMaskedLM", "roberta"},
      {"xlm-roberta", "roberta"},
      {"MarianMTModel", "marian"},
      {"PegasusForConditionalGeneration", "marian"},
      {"CohereForCausalLM", "cohere"},
      {"command-r", "cohere"},
      {"gemma3_text", "gemma"},
      {"gemma-embedding", "gemma"},
      {"MBartForConditionalGeneration", "bart"},
      {"T5EncoderModel", "t5"},
      {"StaticModel", "static"},
      {"granitemoe", "granite"},
      {"BloomForCausalLM", "bloom"},
      {"WhisperForConditionalGeneration", "whisper"},
      {"ModernBertForMaskedLM", "modernbert"},
  };
  for (const auto& [name, family] : cases) {
    const Architecture* row = architecture_by_name(name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(row->family, family) << name;
  }
  EXPECT_EQ(architecture_by_name("no-such-model"), nullptr);
}

TEST(Architectures, LlamaIsRowsInDotProductsOut) {
  for (const auto& metadata : {gguf("llama"), config("mistral"), config("qwen3"), config("smollm3")}) {
    const Profile profile = profile_of(metadata);
    EXPECT_EQ(profile.family, "llama");
    EXPECT_EQ(profile.embedding_scale, 1);
    EXPECT_EQ(profile.positions, Positions::kNone);
    EXPECT_EQ(profile.norm, Norm::kNone);
    EXPECT_EQ(profile.hidden_scale, 1);
    EXPECT_EQ(profile.logit_scale, 1);
    EXPECT_EQ(profile.softcap, 0);
  }
}

TEST(Architectures, Gpt2AddsLearnedPositionsWithoutOffset) {
  const Profile profile = profile_of(gguf("gpt2"));
  EXPECT_EQ(profile.positions, Positions::kLearned);
  EXPECT_EQ(profile.position_offset, 0);
  EXPECT_EQ(profile.embedding_scale, 1);
}

// HF keeps √d in the dtype of the model: 3072 → 55.5 and 640 → 25.25 in bfloat16; llama.cpp uses the float32 root.
TEST(Architectures, GemmaScalesByTheRootOfTheWidth) {
  const MetadataValue bf16 = std::string("bfloat16"), f32 = std::string("float32"),
                      f16 = std::string("float16");
  EXPECT_EQ(profile_of(config("gemma", {{"config.torch_dtype", bf16}}), {.hidden = 3072}).embedding_scale,
            55.5);
  EXPECT_EQ(profile_of(config("gemma3_text", {{"config.dtype", bf16}}), {.hidden = 640}).embedding_scale,
            25.25);
  EXPECT_EQ(profile_of(config("gemma", {{"config.torch_dtype", f32}}), {.hidden = 3072}).embedding_scale,
            static_cast<double>(std::sqrt(3072.0f)));
  EXPECT_EQ(profile_of(config("gemma", {{"config.torch_dtype", f16}}), {.hidden = 3072}).embedding_scale,
            55.4375);
  EXPECT_EQ(profile_of(gguf("gemma2"), {.hidden = 3072}).embedding_scale,
            static_cast<double>(std::sqrt(3072.0f)));
  EXPECT_EQ(profile_of(gguf("gemma-embedding"), {.hidden = 768}).embedding_scale,
            static_cast<double>(std::sqrt(768.0f)));
}

TEST(Architectures, GemmaSoftcaps) {
  EXPECT_EQ(profile_of(gguf("gemma")).softcap, 0);
  EXPECT_EQ(profile_of(gguf("gemma2")).softcap, 30);  // the default of files without the key
  EXPECT_EQ(profile_of(gguf("gemma2", {{"gemma2.final_logit_softcapping", 25.0}})).softcap, 25);
  EXPECT_EQ(profile_of(config("gemma2", {{"config.final_logit_softcapping", 20.0}})).softcap, 20);
  EXPECT_EQ(profile_of(gguf("gemma3")).softcap, 0);
}

// Of a multimodal checkpoint the text part speaks.
TEST(Architectures, Gemma3nHasAPerLayerTable) {
  const Profile profile =
      profile_of(config("gemma3n", {{"config.text_config.hidden_size_per_layer_input", int64_t{256}},
                                    {"config.text_config.final_logit_softcapping", 30.0},
                                    {"config.text_config.torch_dtype", std::string("bfloat16")}}),
                 {.hidden = 2048});
  EXPECT_EQ(profile.family, "gemma3n");
  EXPECT_EQ(profile.per_layer_scale, 16);
  EXPECT_EQ(profile.softcap, 30);
  EXPECT_EQ(profile.embedding_scale, 45.25);  // √2048 = 45.2548… in bfloat16
  EXPECT_EQ(profile_of(gguf("gemma4", {{"gemma4.embedding_length_per_layer_input", uint64_t{256}}}))
                .per_layer_scale,
            16);
}

TEST(Architectures, T5ScalesHiddenOnlyWhereTied) {
  EXPECT_DOUBLE_EQ(profile_of(config("t5"), {.hidden = 64, .tied = true}).hidden_scale, 0.125);
  EXPECT_EQ(profile_of(config("t5", {{"config.tie_word_embeddings", false}}), {.hidden = 64, .tied = false})
                .hidden_scale,
            1);
  EXPECT_EQ(profile_of(gguf("t5"), {.hidden = 64, .tied = false}).hidden_scale, 1);
  EXPECT_DOUBLE_EQ(profile_of(gguf("t5"), {.hidden = 64, .tied = true}).hidden_scale, 0.125);
  // Tied by its config although a head was stored as well: the config decides, as in HF.
  EXPECT_DOUBLE_EQ(
      profile_of(config("mt5", {{"config.tie_word_embeddings", true}}), {.hidden = 64, .tied = false})
          .hidden_scale,
      0.125);
}

TEST(Architectures, BertNormalizesAndTransforms) {
  const Profile profile = profile_of(
      config("bert", {{"config.layer_norm_eps", 1e-12}, {"config.hidden_act", std::string("relu")}}));
  EXPECT_EQ(profile.positions, Positions::kLearned);
  EXPECT_EQ(profile.position_ids, PositionIds::kSequential);
  EXPECT_EQ(profile.norm, Norm::kLayerNorm);
  EXPECT_EQ(profile.norm_epsilon, 1e-12);
  EXPECT_EQ(profile.head_activation, Activation::kRelu);
  EXPECT_EQ(profile.head_norm, Norm::kLayerNorm);
  EXPECT_EQ(profile_of(config("bert")).head_activation, Activation::kGelu);
  EXPECT_EQ(profile_of(gguf("bert", {{"bert.attention.layer_norm_epsilon", 1e-5}})).norm_epsilon, 1e-5);
}

// RoBERTa's positions start behind the pad id; a GGUF file of it is a "bert" whose first rows were cut.
TEST(Architectures, RobertaSkipsPadding) {
  const Profile profile = profile_of(config("roberta", {{"config.pad_token_id", int64_t{1}}}));
  EXPECT_EQ(profile.position_ids, PositionIds::kSkipPadding);
  EXPECT_EQ(profile.padding_id, 1);
  EXPECT_EQ(profile_of(config("xlm-roberta")).padding_id, 1);
  EXPECT_EQ(profile_of(gguf("bert")).position_ids, PositionIds::kSequential);
}

TEST(Architectures, AlbertProjectsAfterItsNorm) {
  const Profile profile = profile_of(config("albert", {{"config.hidden_act", std::string("gelu_new")}}));
  EXPECT_FALSE(profile.projection_first);
  EXPECT_EQ(profile.norm, Norm::kLayerNorm);
  EXPECT_EQ(profile.head_activation, Activation::kGeluTanh);
}

TEST(Architectures, OptCountsTheMaskAndAddsTwo) {
  const Profile profile = profile_of(config("opt"));
  EXPECT_EQ(profile.position_ids, PositionIds::kCumulativeMask);
  EXPECT_EQ(profile.position_offset, 2);
  EXPECT_TRUE(profile.projection_first);
}

TEST(Architectures, BartScalesOnlyWhereFlagged) {
  const Profile plain = profile_of(config("bart", {{"config.scale_embedding", false}}), {.hidden = 16});
  EXPECT_EQ(plain.embedding_scale, 1);
  EXPECT_EQ(plain.position_offset, 2);
  EXPECT_EQ(plain.position_ids, PositionIds::kSequential);
  EXPECT_EQ(plain.norm, Norm::kLayerNorm);
  EXPECT_EQ(profile_of(config("mbart", {{"config.scale_embedding", true}}), {.hidden = 16}).embedding_scale,
            4);
}

TEST(Architectures, MarianAndPegasusHaveSinusoidsInHalves) {
  for (const char* name : {"marian", "pegasus"}) {
    const Profile profile = profile_of(config(name, {{"config.scale_embedding", true}}), {.hidden = 16});
    EXPECT_EQ(profile.positions, Positions::kSinusoidalHalves);
    EXPECT_EQ(profile.embedding_scale, 4);
    EXPECT_EQ(profile.position_offset, 0);
    EXPECT_EQ(profile.norm, Norm::kNone);
  }
}

TEST(Architectures, WhisperAddsLearnedPositionsAlone) {
  const Profile profile = profile_of(config("whisper", {{"config.scale_embedding", true}}));
  EXPECT_EQ(profile.positions, Positions::kLearned);
  EXPECT_EQ(profile.position_offset, 0);
  EXPECT_EQ(profile.embedding_scale, 1);  // only its encoder looks at scale_embedding
}

// The same GGUF key, used both ways.
TEST(Architectures, GraniteDividesAndCohereMultiplies) {
  const Profile granite =
      profile_of(gguf("granite", {{"granite.logit_scale", 8.0}, {"granite.embedding_scale", 12.0}}));
  EXPECT_EQ(granite.logit_scale, 0.125);
  EXPECT_EQ(granite.embedding_scale, 12);
  const Profile hf =
      profile_of(config("granite", {{"config.logits_scaling", 16.0}, {"config.embedding_multiplier", 12.0}}));
  EXPECT_EQ(hf.logit_scale, 0.0625);
  EXPECT_EQ(hf.embedding_scale, 12);
  EXPECT_EQ(profile_of(gguf("command-r", {{"command-r.logit_scale", 0.0625}})).logit_scale, 0.0625);
  EXPECT_EQ(profile_of(config("cohere2", {{"config.logit_scale", 0.25}})).logit_scale, 0.25);
  EXPECT_EQ(profile_of(config("cohere", {{"config.logit_scale", 0.25}})).embedding_scale, 1);
}

TEST(Architectures, GrokHasDefaultsWithoutKeys) {
  const Profile profile = profile_of(gguf("grok"));
  EXPECT_DOUBLE_EQ(profile.embedding_scale, 78.38367176906169);
  EXPECT_DOUBLE_EQ(profile.logit_scale, 0.5773502691896257);
  EXPECT_EQ(profile.softcap, 0);
  EXPECT_EQ(profile_of(gguf("grok", {{"grok.final_logit_softcapping", 50.0}, {"grok.embedding_scale", 90.0}}))
                .softcap,
            50);
  EXPECT_EQ(profile_of(gguf("grok", {{"grok.embedding_scale", 90.0}})).embedding_scale, 90);
}

// HF: hidden / (hidden_size / dim_model_base); GGUF stores that quotient as logit_scale.
TEST(Architectures, MiniCpmShrinksHidden) {
  const Profile hf =
      profile_of(config("minicpm", {{"config.scale_emb", 12.0}, {"config.dim_model_base", int64_t{256}}}),
                 {.hidden = 2304});
  EXPECT_EQ(hf.embedding_scale, 12);
  EXPECT_DOUBLE_EQ(hf.hidden_scale, 256.0 / 2304);
  EXPECT_EQ(hf.logit_scale, 1);
  const Profile file = profile_of(gguf("minicpm", {{"minicpm.logit_scale", 9.0}}), {.hidden = 2304});
  EXPECT_DOUBLE_EQ(file.hidden_scale, 1.0 / 9);
  EXPECT_DOUBLE_EQ(profile_of(gguf("minicpm"), {.hidden = 2304}).hidden_scale, 256.0 / 2304);
}

TEST(Architectures, BloomNormalizesRightAfterTheLookup) {
  const Profile profile = profile_of(gguf("bloom", {{"bloom.attention.layer_norm_epsilon", 1e-6}}));
  EXPECT_EQ(profile.norm, Norm::kLayerNorm);
  EXPECT_EQ(profile.norm_epsilon, 1e-6);
  EXPECT_EQ(profile.positions, Positions::kNone);
}

TEST(Architectures, TheOriginalTransformerScalesAndAddsInterleavedSinusoids) {
  const Profile profile = profile_of({}, {.hidden = 512, .architecture = "transformer"});
  EXPECT_EQ(profile.positions, Positions::kSinusoidalInterleaved);
  EXPECT_EQ(profile.embedding_scale, static_cast<double>(std::sqrt(512.0f)));
}

// In Python a missing `normalize` means false.
TEST(Architectures, StaticEmbeddingsNormalizeOnlyWhenTold) {
  EXPECT_FALSE(profile_of(config("model2vec")).normalize);
  EXPECT_TRUE(profile_of(config("model2vec", {{"config.normalize", true}})).normalize);
}

TEST(Architectures, UnknownAndSilentFilesGetThePlainProfile) {
  const Profile unknown = profile_of(gguf("something-new"));
  EXPECT_EQ(unknown.architecture, "something-new");
  EXPECT_EQ(unknown.family, "");
  EXPECT_EQ(unknown.embedding_scale, 1);
  EXPECT_EQ(profile_of({}).architecture, "");
}

TEST(Architectures, TensorNamesSpeakWhereNothingElseDoes) {
  Directory directory;
  directory.tensors.resize(1);
  directory.tensors[0].name = "transformer.wpe.weight";
  EXPECT_EQ(resolve_profile(directory, {.hidden = 8}).family, "gpt2");
  directory.tensors[0].name = "distilbert.embeddings.word_embeddings.weight";
  EXPECT_EQ(resolve_profile(directory, {.hidden = 8}).family, "bert");
  directory.tensors[0].name = "encoder.weight";
  EXPECT_EQ(resolve_profile(directory, {.hidden = 8}).family, "");
}

TEST(Architectures, ReadsTokenIdsAndTheTokenizersSize) {
  Directory directory = directory_with({{"general.architecture", std::string("llama")},
                                        {"tokenizer.ggml.bos_token_id", uint64_t{1}},
                                        {"tokenizer.ggml.eos_token_id", uint64_t{2}},
                                        {"config.pad_token_id", int64_t{0}}});
  directory.vocabulary.text = "ab[PAD2][PAD3]";
  directory.vocabulary.offsets = {0, 1, 2, 8, 14};
  directory.vocabulary.types = {1, 1, 5, 5};
  const Profile profile = resolve_profile(directory, {.hidden = 8});
  EXPECT_EQ(profile.bos_id, 1);
  EXPECT_EQ(profile.eos_id, 2);
  EXPECT_EQ(profile.padding_id, 0);
  EXPECT_EQ(profile.vocabulary_size, 2u);
  directory.vocabulary.types.clear();
  EXPECT_EQ(resolve_profile(directory, {.hidden = 8}).vocabulary_size, 4u);
  EXPECT_EQ(profile_of(config("llama", {{"config.eos_token_id", std::vector<double>{7, 8}}})).eos_id, 7);
}

TEST(Profile, EveryValueCanBeOverriddenAndRead) {
  Profile profile;
  for (const ProfileEntry& entry : profile_entries(Profile())) {
    if (entry.is_text) continue;
    EXPECT_TRUE(override_profile(profile, entry.key, 1.0).ok()) << entry.key;
  }
  for (const ProfileEntry& entry : profile_entries(profile)) {
    if (!entry.is_text) EXPECT_EQ(entry.number, 1) << entry.key;
  }
  ASSERT_TRUE(override_profile(profile, "positions", "sinusoidal-halves").ok());
  EXPECT_EQ(profile.positions, Positions::kSinusoidalHalves);
  ASSERT_TRUE(override_profile(profile, "headActivation", "gelu-tanh").ok());
  EXPECT_EQ(profile.head_activation, Activation::kGeluTanh);
}

TEST(Profile, RefusesWhatItDoesNotKnow) {
  Profile profile;
  const auto says = [](const Status& status, std::string_view part) {
    return status.code() == Code::kInvalidArgument && status.message().find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(override_profile(profile, "embedingScale", 2.0), "embeddingScale"));
  EXPECT_TRUE(says(override_profile(profile, "positions", "rotary"), "learned"));
  EXPECT_TRUE(says(override_profile(profile, "positions", 1.0), "word"));
  EXPECT_TRUE(says(override_profile(profile, "softcap", "30"), "number"));
  EXPECT_TRUE(says(override_profile(profile, "softcap", -1.0), "0 or more"));
  EXPECT_TRUE(says(override_profile(profile, "paddingId", 0.5), "whole"));
  EXPECT_TRUE(says(override_profile(profile, "embeddingScale", std::nan("")), "finite"));
}

}  // namespace
}  // namespace id2vec

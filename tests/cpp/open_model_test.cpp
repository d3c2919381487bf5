// From files to a plan: roles by name, by graph and by elimination; tying; conversions; what is said when it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cpp/corpus.h"
#include "cpp/drive.h"
#include "cpp/gguf_builder.h"
#include "cpp/safetensors_builder.h"
#include "model/model.h"

namespace id2vec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Tying = ModelPlan::Tying;

Result<ModelPlan> plan_of(const Files& files, const std::string& root, const OpenOptions& options = {}) {
  return drive(files, root, [&](FileSet& set) { return open_model(set, options); });
}

// What a loader does: every segment to its place, through the conversion where there is one, `piece` bytes at once.
std::unique_ptr<Table> load(const Files& files, const ModelPlan& plan, std::string_view role,
                            size_t piece = SIZE_MAX) {
  const TableSource& source = plan.find(role)->source;
  Result<std::unique_ptr<Table>> result = Table::allocate(source.spec, *kernel_table("scalar"));
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (!result.ok()) return nullptr;
  std::unique_ptr<Table> table = std::move(result.value());
  write_inline(source, *table);
  for (const Segment& segment : source.segments) {
    const Bytes stored =
        Bytes(files.at(plan.directory.files[segment.file])).subspan(segment.offset, segment.bytes);
    const MutableBytes plane = table->plane(segment.plane);
    for (size_t at = 0; at < stored.size(); at += piece) {
      const Bytes chunk = stored.subspan(at, std::min(piece, stored.size() - at));
      if (source.conversion == Conversion::kNone) {
        EXPECT_LE(segment.target + at + chunk.size(), plane.size());
      }
      put_stored(source, segment.plane, segment.target + at, chunk, *table);
    }
    if (piece == SIZE_MAX) continue;
  }
  return table;
}

std::vector<float> row(const Table& table, uint32_t id) {
  std::vector<float> out(table.spec().cols);
  const Status status = table.lookup(std::span(&id, 1), out);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

Files one(std::vector<uint8_t> bytes) { return {{"m", std::move(bytes)}}; }

std::string embedding_of(const SafetensorsBuilder& builder, const OpenOptions& options = {}) {
  const Result<ModelPlan> plan = plan_of(one(builder.build()), "m", options);
  return plan.ok() ? plan.value().roles[0].source.name : plan.status().message();
}

// Names ------------------------------------------------------------------------------------------------------

TEST(Roles, KnowTheNamesOfTheFamilies) {
  for (const char* name : {"token_embd.weight",
                           "model.embed_tokens.weight",
                           "embed_tokens.weight",
                           "transformer.wte.weight",
                           "wte.weight",
                           "embeddings.word_embeddings.weight",
                           "bert.embeddings.word_embeddings.weight",
                           "word_embeddings.weight",
                           "tok_embeddings.weight",
                           "gpt_neox.embed_in.weight",
                           "shared.weight",
                           "model.shared.weight",
                           "tokens_embed.weight",
                           "backbone.embeddings.weight",
                           "embeddings",
                           "embedding.weight",
                           "0.embedding.weight",
                           "language_model.model.embed_tokens.weight",
                           "model.decoder.embed_tokens.weight",
                           "_orig_mod.transformer.wte.weight",
                           "0.auto_model.embeddings.word_embeddings.weight",
                           "rwkv.embeddings.weight"}) {
    SafetensorsBuilder builder;
    builder.f32("model.layers.0.wte.weight", {6, 4})
        .f32("vision_tower.embeddings.weight", {6, 4})
        .f32("other", {6, 4});
    EXPECT_EQ(embedding_of(builder.f32(name, {6, 4})), name);
  }
}

TEST(Roles, ReadTheEmbeddingWithItsShapeAndPlace) {
  const Files files = one(SafetensorsBuilder().f32("x", {5}).f32("wte.weight", {6, 4}, 100).build());
  const Result<ModelPlan> plan = plan_of(files, "m");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const TableSource& source = plan.value().roles[0].source;
  EXPECT_EQ(source.spec.rows, 6u);
  EXPECT_EQ(source.spec.cols, 4u);
  EXPECT_EQ(source.spec.dtype->name, "F32");
  EXPECT_EQ(source.bytes(), 96u);
  EXPECT_EQ(plan.value().tying, Tying::kAbsent);
  EXPECT_THAT(row(*load(files, plan.value(), "embedding"), 3), ElementsAre(112, 113, 114, 115));
}

TEST(Roles, TakeTheOnlyMatrixWhateverItsName) {
  EXPECT_EQ(embedding_of(SafetensorsBuilder().f32("module/Embeddings_en", {6, 4}).f32("bias", {6})),
            "module/Embeddings_en");
}

TEST(Roles, AskWhereSeveralMatricesMightBeIt) {
  const Files files = one(SafetensorsBuilder().f32("left", {6, 4}).f32("right", {3, 4}).build());
  const Result<ModelPlan> plan = plan_of(files, "m");
  ASSERT_EQ(plan.status().code(), Code::kAmbiguous);
  EXPECT_EQ(plan.status().message(),
            "m: no tensor has a name that embeddings have, and several are matrices: 'left' [6, 4] F32, "
            "'right' [3, 4] F32; choose one with `tensor`");
  EXPECT_EQ(embedding_of(SafetensorsBuilder().f32("left", {6, 4}).f32("right", {3, 4}), {.tensor = "right"}),
            "right");
}

TEST(Roles, SayWhatIsThereWhereNothingFits) {
  EXPECT_THAT(embedding_of(SafetensorsBuilder().f32("bias", {6})),
              HasSubstr("none of the tensors is a matrix of weights: 'bias' [6] F32"));
  EXPECT_THAT(embedding_of(SafetensorsBuilder()), HasSubstr("the file holds no tensors"));
  EXPECT_THAT(embedding_of(SafetensorsBuilder().f32("wte.weight", {6, 4}), {.tensor = "nope"}),
              HasSubstr("there is no tensor 'nope'; matrices are 'wte.weight' [6, 4] F32"));
  EXPECT_THAT(embedding_of(SafetensorsBuilder().f32("b", {6}).f32("wte.weight", {6, 4}), {.tensor = "b"}),
              HasSubstr("is no matrix"));
  EXPECT_THAT(embedding_of(SafetensorsBuilder().tensor("ids", "I64", {1, 2}, std::vector<uint8_t>(16)),
                           {.tensor = "ids"}),
              HasSubstr("'ids' [1, 2] I64 is no matrix"));
  EXPECT_THAT(embedding_of(SafetensorsBuilder().tensor("ids", "I64", {2, 2}, std::vector<uint8_t>(32)),
                           {.tensor = "ids"}),
              HasSubstr("'ids' holds I64 values, which are no weights of a table"));
}

// Tying ------------------------------------------------------------------------------------------------------

TEST(Tied, ByAbsenceByRangeByValueOrNot) {
  const auto tying = [](const std::vector<uint8_t>& bytes, const OpenOptions& options = {}) {
    const Result<ModelPlan> plan = plan_of(one(bytes), "m", options);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.value().tying;
  };
  EXPECT_EQ(tying(SafetensorsBuilder().f32("wte.weight", {6, 4}).build()), Tying::kAbsent);
  EXPECT_EQ(tying(SafetensorsBuilder().f32("wte.weight", {6, 4}).f32("lm_head.weight", {6, 4}).build()),
            Tying::kCompare);
  EXPECT_EQ(tying(SafetensorsBuilder().f32("wte.weight", {6, 4}).f32("lm_head.weight", {7, 4}).build()),
            Tying::kUntied);
  EXPECT_EQ(
      tying(SafetensorsBuilder().f32("wte.weight", {6, 4}).f32("other", {6, 4}).build(), {.head = "other"}),
      Tying::kCompare);
  EXPECT_EQ(tying(SafetensorsBuilder().f32("wte.weight", {6, 4}).build(), {.head = "wte.weight"}),
            Tying::kShared);
  std::vector<uint8_t> half(48);
  EXPECT_EQ(tying(SafetensorsBuilder()
                      .f32("wte.weight", {6, 4})
                      .tensor("lm_head.weight", "F16", {6, 4}, half)
                      .build()),
            Tying::kUntied);
  EXPECT_EQ(tying(GgufBuilder()
                      .tensor({"token_embd.weight", {4, 6}, 0, std::vector<uint8_t>(96)})
                      .tensor({"output.weight", {4, 6}, 0, {}, 0})
                      .build()),
            Tying::kShared);
}

TEST(Tied, TheHeadServesWhereTheEmbeddingIsTheOneThatIsMissing) {
  const Result<ModelPlan> plan =
      plan_of(one(SafetensorsBuilder().f32("lm_head.weight", {6, 4}).f32("q", {4, 4}).build()), "m");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan.value().roles[0].source.name, "lm_head.weight");
  EXPECT_EQ(plan.value().roles[0].role, "embedding");
  EXPECT_EQ(plan.value().roles.size(), 1u);
  EXPECT_EQ(plan.value().tying, Tying::kAbsent);
  ASSERT_EQ(plan.value().warnings.size(), 1u);
  EXPECT_THAT(plan.value().warnings[0], HasSubstr("no embedding beside the head 'lm_head.weight'"));
}

TEST(Tied, SaysWhereConfigAndTensorsDisagree) {
  const std::vector<uint8_t> model =
      SafetensorsBuilder().f32("wte.weight", {6, 4}).f32("lm_head.weight", {7, 4}).build();
  const auto warnings = [&](const char* config) {
    const Result<ModelPlan> plan = plan_of({{"m", model}, {"config.json", bytes_of(config)}}, "m");
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.value().warnings;
  };
  EXPECT_TRUE(warnings(R"({"tie_word_embeddings": false})").empty());
  ASSERT_EQ(warnings(R"({"tie_word_embeddings": true})").size(), 1u);
  EXPECT_THAT(warnings(R"({"text_config": {"tie_word_embeddings": true}})")[0], HasSubstr("tied"));
  EXPECT_THAT(warnings("<html>")[0], HasSubstr("config.json: this is no valid JSON"));
}

TEST(Tied, SaysWhereAHeadIsPromisedThatIsNotThere) {
  const std::vector<uint8_t> model = SafetensorsBuilder().f32("wte.weight", {6, 4}).build();
  const auto warnings = [&](const char* config) {
    return plan_of({{"m", model}, {"config.json", bytes_of(config)}}, "m").value().warnings;
  };
  EXPECT_TRUE(warnings(R"({"tie_word_embeddings": true})").empty());
  EXPECT_TRUE(warnings("{}").empty());
  ASSERT_EQ(warnings(R"({"tie_word_embeddings": false})").size(), 1u);
  EXPECT_THAT(warnings(R"({"tie_word_embeddings": false})")[0], HasSubstr("the file holds no head"));
}

// The loader has the last word on two tables that look alike.
TEST(Tied, SaysNothingAboutTablesThatLookAlike) {
  const std::vector<uint8_t> model =
      SafetensorsBuilder().f32("wte.weight", {6, 4}).f32("lm_head.weight", {6, 4}).build();
  for (const char* config : {R"({"tie_word_embeddings": true})", R"({"tie_word_embeddings": false})"}) {
    const ModelPlan plan = plan_of({{"m", model}, {"config.json", bytes_of(config)}}, "m").value();
    EXPECT_EQ(plan.tying, Tying::kCompare);
    EXPECT_TRUE(plan.warnings.empty()) << plan.warnings[0];
  }
}

// Gemma 3n: a second table, [V', layers · 256], whose rows are scaled by √256.
TEST(PerLayer, IsReachedByItsRoleAndByItsName) {
  const std::vector<uint8_t> model =
      GgufBuilder()
          .text("general.architecture", "gemma3n")
          .tensor({"token_embd.weight", {4, 3}, 0, std::vector<uint8_t>(48)})
          .tensor({"per_layer_token_embd.weight", {6, 2}, 0, std::vector<uint8_t>(48)})
          .build();
  const ModelPlan whole = plan_of(one(model), "m").value();
  EXPECT_EQ(whole.roles[0].source.spec.cols, 4u);
  EXPECT_EQ(whole.profile.embedding_scale, 2);
  ASSERT_NE(whole.find("per_layer"), nullptr);
  for (const char* name : {"per_layer", "per_layer_token_embd.weight"}) {
    const Result<ModelPlan> plan = plan_of(one(model), "m", {.tensor = name});
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan.value().roles[0].source.spec.rows, 2u);
    EXPECT_EQ(plan.value().roles[0].source.spec.cols, 6u);
    EXPECT_EQ(plan.value().profile.embedding_scale, 16);
  }
  const std::vector<uint8_t> without =
      GgufBuilder().tensor({"token_embd.weight", {4, 3}, 0, std::vector<uint8_t>(48)}).build();
  EXPECT_EQ(plan_of(one(without), "m", {.tensor = "per_layer"}).status().code(), Code::kNotFound);
}

TEST(Vocabulary, SaysWhereItsSizeIsNotTheTables) {
  const auto warnings = [](std::vector<std::string> pieces) {
    GgufBuilder gguf;
    gguf.texts("tokenizer.ggml.tokens", pieces);
    gguf.tensor({"token_embd.weight", {4, 3}, 0, std::vector<uint8_t>(48)});
    return plan_of(one(gguf.build()), "m").value().warnings;
  };
  EXPECT_TRUE(warnings({"a", "b", "c"}).empty());
  ASSERT_EQ(warnings({"a", "b", "c", "d", "e"}).size(), 1u);
  EXPECT_EQ(warnings({"a", "b", "c", "d", "e"})[0],
            "the vocabulary has 5 pieces, but the embedding only 3 rows: ids from 3 on cannot be looked up");
  ASSERT_EQ(warnings({"a", "b"}).size(), 1u);
  EXPECT_EQ(warnings({"a", "b"})[0],
            "the embedding has 3 rows, but the vocabulary only 2 pieces: rows from 2 on belong to no token");
}

TEST(Vocabulary, SaysWhereConfigStatesAnotherSizeOrIdsThatHaveNoRow) {
  const std::vector<uint8_t> model = SafetensorsBuilder().f32("wte.weight", {6, 4}).build();
  const auto warnings = [&](const char* config) {
    return plan_of({{"m", model}, {"config.json", bytes_of(config)}}, "m").value().warnings;
  };
  EXPECT_TRUE(warnings(R"({"vocab_size": 6, "pad_token_id": 5, "eos_token_id": [2, 9]})").empty());
  EXPECT_THAT(warnings(R"({"vocab_size": 8})"),
              ElementsAre("config.json says that the vocabulary has 8 ids, but the embedding has 6 rows"));
  EXPECT_THAT(warnings(R"({"text_config": {"vocab_size": 8}})"), SizeIs(1));
  EXPECT_THAT(warnings(R"({"pad_token_id": 6, "bos_token_id": 7})"),
              ElementsAre("the padding id is 6, but the embedding has only 6 rows",
                          "the BOS id is 7, but the embedding has only 6 rows"));
}

TEST(Vocabulary, ReadsTheLargestNumberAsNoId) {
  GgufBuilder gguf;
  gguf.u32("tokenizer.ggml.padding_token_id", UINT32_MAX);
  gguf.tensor({"token_embd.weight", {4, 3}, 0, std::vector<uint8_t>(48)});
  const ModelPlan plan = plan_of(one(gguf.build()), "m").value();
  EXPECT_EQ(plan.profile.padding_id, -1);
  EXPECT_TRUE(plan.warnings.empty());
}

TEST(Head, IgnoresClassifiersAndOtherShapes) {
  const Result<ModelPlan> plan = plan_of(one(SafetensorsBuilder()
                                                 .f32("wte.weight", {60, 4})
                                                 .f32("head.weight", {3, 4})
                                                 .f32("output.weight", {5, 5})
                                                 .build()),
                                         "m");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().tying, Tying::kAbsent);
}

TEST(Head, IsTurnedWhereItIsStoredTransposed) {
  for (const size_t piece : {SIZE_MAX, size_t{1}, size_t{7}, size_t{16}}) {
    const Files files =
        one(SafetensorsBuilder().f32("wte.weight", {6, 4}).f32("lm_head.weight", {4, 6}).build());
    const Result<ModelPlan> plan = plan_of(files, "m");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const TableSource& head = plan.value().find("head")->source;
    EXPECT_EQ(head.conversion, Conversion::kStrided);
    EXPECT_EQ(head.spec.rows, 6u);
    EXPECT_EQ(plan.value().tying, Tying::kCompare);
    const std::unique_ptr<Table> table = load(files, plan.value(), "head", piece);
    EXPECT_THAT(row(*table, 0), ElementsAre(0, 6, 12, 18));
    EXPECT_THAT(row(*table, 5), ElementsAre(5, 11, 17, 23));
    const Bytes stored = Bytes(files.at("m")).subspan(head.segments[0].offset, head.segments[0].bytes);
    EXPECT_TRUE(already_there(head.layout, 0, stored, table->plane(0).data()));
    EXPECT_TRUE(already_there(head.layout, 13, stored.subspan(13, 29), table->plane(0).data()));
    table->plane(0)[40] ^= 1;
    EXPECT_FALSE(already_there(head.layout, 0, stored, table->plane(0).data()));
  }
}

// Everything around the table --------------------------------------------------------------------------------

std::vector<std::string> role_list(const ModelPlan& plan) {
  std::vector<std::string> list;
  for (const Role& role : plan.roles) list.push_back(role.role + "=" + role.source.name);
  return list;
}

TEST(Roles, FindWhatABertHas) {
  SafetensorsBuilder bert;
  bert.f32("bert.embeddings.word_embeddings.weight", {10, 4})
      .f32("bert.embeddings.position_embeddings.weight", {8, 4});
  bert.f32("bert.embeddings.token_type_embeddings.weight", {2, 4});
  bert.f32("bert.embeddings.LayerNorm.gamma", {4}).f32("bert.embeddings.LayerNorm.beta", {4});
  bert.f32("bert.encoder.layer.0.output.LayerNorm.weight", {4});
  bert.f32("cls.predictions.bias", {10}).f32("cls.predictions.transform.dense.weight", {4, 4});
  bert.f32("cls.predictions.transform.dense.bias", {4})
      .f32("cls.predictions.transform.LayerNorm.weight", {4});
  bert.f32("cls.predictions.transform.LayerNorm.bias", {4});
  const Result<ModelPlan> plan = plan_of(one(bert.build()), "m");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT(
      role_list(plan.value()),
      ElementsAre("embedding=bert.embeddings.word_embeddings.weight", "head_bias=cls.predictions.bias",
                  "positions=bert.embeddings.position_embeddings.weight",
                  "token_types=bert.embeddings.token_type_embeddings.weight",
                  "norm_weight=bert.embeddings.LayerNorm.gamma", "norm_bias=bert.embeddings.LayerNorm.beta",
                  "head_projection=cls.predictions.transform.dense.weight",
                  "head_projection_bias=cls.predictions.transform.dense.bias",
                  "head_norm_weight=cls.predictions.transform.LayerNorm.weight",
                  "head_norm_bias=cls.predictions.transform.LayerNorm.bias"));
}

TEST(Roles, FindTheProjectionAndTheWidthBehindIt) {
  SafetensorsBuilder opt;
  opt.f32("model.decoder.embed_tokens.weight", {10, 4}).f32("model.decoder.project_in.weight", {6, 4});
  opt.f32("model.decoder.embed_positions.weight", {12, 6}).f32("model.decoder.project_out.weight", {4, 6});
  const Result<ModelPlan> plan = plan_of(one(opt.build()), "m");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT(role_list(plan.value()), ElementsAre("embedding=model.decoder.embed_tokens.weight",
                                                   "projection=model.decoder.project_in.weight",
                                                   "positions=model.decoder.embed_positions.weight",
                                                   "head_projection=model.decoder.project_out.weight"));
}

TEST(Roles, PreferWhatIsNearTheEmbedding) {
  SafetensorsBuilder whisper;
  whisper.f32("model.decoder.embed_positions.weight", {8, 4})
      .f32("model.decoder.embed_tokens.weight", {10, 4});
  whisper.f32("model.encoder.embed_positions.weight", {9, 4});
  const Result<ModelPlan> plan = plan_of(one(whisper.build()), "m");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().find("positions")->source.name, "model.decoder.embed_positions.weight");
  SafetensorsBuilder bart;
  bart.f32("model.decoder.embed_positions.weight", {8, 4})
      .f32("model.encoder.embed_positions.weight", {9, 4});
  bart.f32("model.shared.weight", {10, 4}).f32("final_logits_bias", {1, 10});
  const Result<ModelPlan> other = plan_of(one(bart.build()), "m");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other.value().find("positions")->source.name, "model.encoder.embed_positions.weight");
  EXPECT_EQ(other.value().find("head_bias")->source.spec.cols, 10u);
}

TEST(Roles, FindMappingAndWeightsOfStaticEmbeddings) {
  SafetensorsBuilder model;
  model.tensor("mapping", "I32", {6}, std::vector<uint8_t>(24))
      .tensor("weights", "F64", {6}, std::vector<uint8_t>(48));
  model.f32("embeddings", {3, 4});
  const Result<ModelPlan> plan = plan_of(one(model.build()), "m");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT(role_list(plan.value()),
              ElementsAre("embedding=embeddings", "mapping=mapping", "weights=weights"));
  EXPECT_EQ(plan.value().find("mapping")->source.spec.dtype->name, "I32");
  EXPECT_EQ(plan.value().find("mapping")->source.bytes(), 24u);
}

TEST(Roles, WarnWhereTwoTensorsLookLikeTheEmbedding) {
  const Result<ModelPlan> plan = plan_of(one(SafetensorsBuilder()
                                                 .f32("model.decoder.embed_tokens.weight", {6, 4})
                                                 .f32("model.encoder.embed_tokens.weight", {6, 4})
                                                 .build()),
                                         "m");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().roles[0].source.name, "model.encoder.embed_tokens.weight");
  ASSERT_EQ(plan.value().warnings.size(), 1u);
  EXPECT_THAT(plan.value().warnings[0], HasSubstr("choose with `tensor`"));
}

// Quantized integers -----------------------------------------------------------------------------------------

uint16_t bf16(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

// Two rows of 64 weights at `bits` bits, one group of 64 each: weight = scale · q + bias, q = 0, 1, 2, … mod 2^bits.
SafetensorsBuilder mlx(uint32_t bits) {
  std::vector<uint32_t> words(2 * 64 * bits / 32);
  for (uint32_t i = 0; i < 128; ++i) {
    const uint64_t place = uint64_t{i} * bits, q = i % (1u << bits);
    for (uint32_t b = 0; b < bits; ++b)
      words[(place + b) / 32] |= static_cast<uint32_t>(q >> b & 1) << ((place + b) % 32);
  }
  ByteWriter quants, scales, biases;
  for (const uint32_t word : words) quants.put(word);
  scales.put(bf16(0.5f)).put(bf16(2));
  biases.put(bf16(-1)).put(bf16(3));
  SafetensorsBuilder builder;
  builder.tensor("model.embed_tokens.biases", "BF16", {2, 1}, biases.bytes);
  builder.tensor("model.embed_tokens.scales", "BF16", {2, 1}, scales.bytes);
  builder.tensor("model.embed_tokens.weight", "U32", {2, 2 * bits}, quants.bytes);
  return builder;
}

TEST(Mlx, ReadsEveryWidth) {
  for (const uint32_t bits : {2u, 3u, 4u, 6u, 8u}) {
    const std::string config =
        "{\"quantization\": {\"group_size\": 64, \"bits\": " + std::to_string(bits) + "}}";
    const Files files = {{"model.safetensors", mlx(bits).build()}, {"config.json", bytes_of(config)}};
    const Result<ModelPlan> plan = plan_of(files, "model.safetensors");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan.value().roles[0].source.spec.cols, 64u);
    const std::unique_ptr<Table> table = load(files, plan.value(), "embedding");
    ASSERT_NE(table, nullptr);
    for (uint32_t id = 0; id < 2; ++id) {
      const std::vector<float> values = row(*table, id);
      for (uint32_t i = 0; i < 64; ++i) {
        const float q = static_cast<float>((id * 64 + i) % (1u << bits));
        ASSERT_EQ(values[i], id == 0 ? 0.5f * q - 1 : 2 * q + 3) << bits << " bits, weight " << i;
      }
    }
  }
}

TEST(Mlx, AHeadOfTheSameKindMayBeTheSameTable) {
  SafetensorsBuilder builder = mlx(4);
  builder.tensor("lm_head.weight", "U32", {2, 8}, std::vector<uint8_t>(64));
  builder.tensor("lm_head.scales", "BF16", {2, 1}, std::vector<uint8_t>(4));
  builder.tensor("lm_head.biases", "BF16", {2, 1}, std::vector<uint8_t>(4));
  const auto tying = [&](const char* config) {
    const Result<ModelPlan> plan = plan_of({{"m", builder.build()}, {"config.json", bytes_of(config)}}, "m");
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.value().tying;
  };
  EXPECT_EQ(tying(R"({"quantization": {"group_size": 64, "bits": 4}})"), Tying::kCompare);
}

TEST(Mlx, TakesTheWidthOfTheModuleFirst) {
  const char* config =
      R"({"quantization": {"group_size": 32, "bits": 8, "model.embed_tokens": {"group_size": 64, "bits": 4}}})";
  const Result<ModelPlan> plan = plan_of({{"m", mlx(4).build()}, {"config.json", bytes_of(config)}}, "m");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan.value().roles[0].source.spec.affine.group_size, 64u);
  EXPECT_EQ(plan.value().roles[0].source.spec.dtype->name, "AFFINE_4");
}

TEST(Mlx, SaysWhatIsMissing) {
  const auto message = [](const char* config) {
    Files files = one(mlx(4).build());
    if (config != nullptr) files["config.json"] = bytes_of(config);
    return plan_of(files, "m", {.tensor = "model.embed_tokens.weight"}).status().message();
  };
  EXPECT_THAT(message(nullptr), HasSubstr("only config.json (quantization: bits, group_size) tells how"));
  EXPECT_THAT(message(R"({"quantization": {"group_size": 64, "bits": 5}})"),
              HasSubstr("quantization to 5 bits is not read"));
  EXPECT_THAT(message(R"({"quantization": {"group_size": 32, "bits": 4}})"),
              HasSubstr("has 4 bytes, but 2 rows of 4 bytes"));
  EXPECT_THAT(message(R"({"quantization": {"group_size": 1e300, "bits": -1}})"),
              HasSubstr("only config.json"));
}

constexpr float kE2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

// Rows of 64 weights: code i mod 16 (and from its end in the second row), exponents of 2⁰, 2¹, 2⁻¹ and 2².
SafetensorsBuilder mxfp4() {
  std::vector<uint8_t> codes;
  for (uint32_t i = 0; i < 64; ++i) {
    const auto byte = static_cast<uint8_t>((2 * i % 16) | (2 * i + 1) % 16 << 4);
    codes.push_back(i < 32 ? byte : static_cast<uint8_t>(0xFF - byte));
  }
  SafetensorsBuilder builder;
  builder.tensor("model.embed_tokens.scales", "U8", {2, 2}, {127, 128, 126, 129});
  return builder.tensor("model.embed_tokens.weight", "U32", {2, 8}, codes);
}

TEST(Mlx, ReadsMxfp4) {
  const Files files = {
      {"m", mxfp4().build()},
      {"config.json", bytes_of(R"({"quantization": {"mode": "mxfp4", "group_size": 32, "bits": 4}})")}};
  const Result<ModelPlan> plan = plan_of(files, "m");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan.value().roles[0].source.spec.dtype->name, "MXFP4");
  for (const size_t piece : {SIZE_MAX, size_t{1}, size_t{7}}) {
    const std::unique_ptr<Table> table = load(files, plan.value(), "embedding", piece);
    for (uint32_t i = 0; i < 64; ++i) {
      ASSERT_EQ(row(*table, 0)[i], kE2m1[i % 16] * (i < 32 ? 1.0f : 2.0f)) << i;
      ASSERT_EQ(row(*table, 1)[i], kE2m1[15 - i % 16] * (i < 32 ? 0.5f : 4.0f)) << i;
    }
    const TableSource& source = plan.value().roles[0].source;
    for (const Segment& segment : source.segments) {
      const Bytes stored = Bytes(files.at("m")).subspan(segment.offset, segment.bytes);
      EXPECT_TRUE(holds_stored(source, segment.plane, 0, stored, *table));
      EXPECT_TRUE(holds_stored(source, segment.plane, 1, stored.subspan(1, 2), *table));
    }
    table->plane(0)[20] ^= 1;
    const Segment& codes = source.segments[0];
    EXPECT_FALSE(holds_stored(source, 0, 0, Bytes(files.at("m")).subspan(codes.offset, codes.bytes), *table));
  }
}

TEST(Mlx, NamesTheModesThatItHasNot) {
  const auto message = [](const char* config, const SafetensorsBuilder& builder) {
    const Result<ModelPlan> plan = plan_of({{"m", builder.build()}, {"config.json", bytes_of(config)}}, "m",
                                           {.tensor = "model.embed_tokens.weight"});
    return plan.ok() ? std::string(plan.value().roles[0].source.spec.dtype->name) : plan.status().message();
  };
  for (const char* mode : {"nvfp4", "mxfp8"}) {
    const std::string config =
        std::string(R"({"quantization": {"bits": 4, "group_size": 16, "mode": ")") + mode + "\"}}";
    EXPECT_THAT(message(config.c_str(), mxfp4()),
                HasSubstr(std::string("in the mode '") + mode + "' of MLX, which is not read"));
  }
  // A module with an entry of its own has the mode of that entry.
  EXPECT_EQ(message(R"({"quantization": {"mode": "mxfp4", "group_size": 32, "bits": 4,
                        "model.embed_tokens": {"group_size": 64, "bits": 4}}})",
                    mlx(4)),
            "AFFINE_4");
  EXPECT_EQ(message(R"({"quantization": {"group_size": 64, "bits": 4,
                        "model.embed_tokens": {"group_size": 32, "bits": 4, "mode": "mxfp4"}}})",
                    mxfp4()),
            "MXFP4");
  SafetensorsBuilder few;
  few.tensor("model.embed_tokens.scales", "U8", {2, 1}, {127, 128});
  few.tensor("model.embed_tokens.weight", "U32", {2, 8}, std::vector<uint8_t>(64));
  EXPECT_THAT(message(R"({"quantization": {"mode": "mxfp4"}})", few),
              HasSubstr("rows of 64 weights and 2 scales"));
  EXPECT_THAT(message(R"({"quantization": {"mode": "mxfp4"}})", mlx(4)),
              HasSubstr("no matrix with U8 scales"));
}

// torchao and bitsandbytes keep a module's other state beside its integers; neither makes another format of them.
TEST(Int8, ReadsWholeModulesOfItsMakers) {
  std::vector<uint8_t> quants(3 * 64);
  for (size_t i = 0; i < quants.size(); ++i) quants[i] = static_cast<uint8_t>(i * 37);
  const auto expect_rows = [&](SafetensorsBuilder builder, const std::vector<float>& scales) {
    const Files files = one(builder.tensor("model.embed_tokens.weight", "I8", {3, 64}, quants).build());
    const Result<ModelPlan> plan = plan_of(files, "m");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan.value().roles[0].source.spec.dtype->name, "AFFINE_8");
    const std::unique_ptr<Table> table = load(files, plan.value(), "embedding");
    for (uint32_t id = 0; id < 3; ++id) {
      const std::vector<float> values = row(*table, id);
      for (uint32_t i = 0; i < 64; ++i) {
        const auto q = static_cast<float>(static_cast<int8_t>(quants[id * 64 + i]));
        ASSERT_EQ(values[i], scales[scales.size() == 1 ? 0 : id] * q) << id << " " << i;
      }
    }
  };
  ByteWriter maxima, wide, half, all;
  for (const float maximum : {127.0f, 0.127f, 254.0f}) maxima.put(maximum);
  for (const float scale : {0.5f, 0.001f, 4.0f}) wide.put(scale), half.put(bf16(scale));
  all.put(0.25f);
  SafetensorsBuilder bitsandbytes;
  bitsandbytes.tensor("model.embed_tokens.SCB", "F32", {3}, maxima.bytes);
  bitsandbytes.tensor("model.embed_tokens.weight_format", "U8", {}, {0});
  constexpr float kPart = 1.0f / 127;
  expect_rows(std::move(bitsandbytes), {127.0f * kPart, 0.127f * kPart, 254.0f * kPart});
  SafetensorsBuilder torchao;
  torchao.tensor("model.embed_tokens.weight_scale", "F32", {3, 1}, wide.bytes);
  torchao.tensor("model.embed_tokens.weight_zero_point_domain", "U8", {1}, {0});
  expect_rows(std::move(torchao), {0.5f, 0.001f, 4.0f});
  expect_rows(SafetensorsBuilder().tensor("model.embed_tokens.scales", "BF16", {3}, half.bytes),
              {0.5f, std::bit_cast<float>(uint32_t{bf16(0.001f)} << 16), 4.0f});
  expect_rows(SafetensorsBuilder().tensor("model.embed_tokens.weight_scale", "F32", {1}, all.bytes), {0.25f});
}

// Without their zero points such integers would be other weights.
TEST(Int8, RefusesZeroPointsBesideTheRows) {
  SafetensorsBuilder builder;
  builder.tensor("wte.weight", "I8", {2, 2}, std::vector<uint8_t>(4));
  builder.tensor("wte.weight_scale", "F32", {2, 1}, std::vector<uint8_t>(8));
  builder.tensor("wte.weight_zero_point", "I8", {2, 1}, std::vector<uint8_t>(2));
  EXPECT_THAT(embedding_of(builder, {.tensor = "wte.weight"}),
              HasSubstr("zero points 'wte.weight_zero_point' beside, which are not read"));
}

// The scales alone are matrices too, and none of them is the table.
TEST(Mlx, SaysWhatIsMissingWithoutBeingAskedForATensor) {
  EXPECT_THAT(embedding_of(mlx(4)),
              HasSubstr("the embedding cannot be read: tensor 'model.embed_tokens.weight' is packed"));
  SafetensorsBuilder gptq;
  gptq.tensor("model.embed_tokens.qweight", "I32", {1, 4}, std::vector<uint8_t>(16))
      .f32("model.embed_tokens.scales", {1, 4});
  EXPECT_THAT(embedding_of(gptq), HasSubstr("'model.embed_tokens.qweight' is packed as GPTQ or AWQ do"));
}

TEST(F8, RefusesScalesBesideTheRows) {
  for (const char* scales : {"wte.weight_scale", "wte.weight_scale_inv"}) {
    SafetensorsBuilder builder;
    builder.tensor("wte.weight", "F8_E4M3", {2, 2}, std::vector<uint8_t>(4))
        .tensor(scales, "F32", {1}, std::vector<uint8_t>(4));
    EXPECT_THAT(embedding_of(builder, {.tensor = "wte.weight"}),
                HasSubstr("which is not read; convert the model to BF16"));
  }
}

// A head that cannot be read is not taken for no head: logits by the embedding would be wrong.
TEST(Head, SaysWhyItCannotBeRead) {
  const auto problem = [](SafetensorsBuilder head) {
    const Result<ModelPlan> plan = plan_of(one(head.f32("model.embed_tokens.weight", {6, 4}).build()), "m");
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan.value().tying, plan.value().head_problem.empty() ? Tying::kAbsent : Tying::kUntied);
    EXPECT_EQ(plan.value().find("head"), nullptr);
    return plan.value().head_problem;
  };
  EXPECT_THAT(
      problem(SafetensorsBuilder().tensor("lm_head.weight", "U8", {6, 2}, std::vector<uint8_t>(12))),
      HasSubstr("the head cannot be read, so there are no logits: tensor 'lm_head.weight' holds U8 values"));
  EXPECT_THAT(
      problem(SafetensorsBuilder().tensor("lm_head.qweight", "I32", {1, 6}, std::vector<uint8_t>(24))),
      HasSubstr("'lm_head.qweight' is packed as GPTQ or AWQ do"));
  EXPECT_EQ(problem(SafetensorsBuilder().tensor("lm_head.weight", "U8", {3, 2}, std::vector<uint8_t>(6))),
            "");
  EXPECT_EQ(problem(SafetensorsBuilder().tensor("model.layers.0.output.qweight", "I32", {1, 6},
                                                std::vector<uint8_t>(24))),
            "");
}

TEST(Int8, ReadsScalesBesideTheRowsOrNone) {
  ByteWriter scales, maxima, quants;
  scales.put(0.5f).put(2.0f);
  maxima.put(127.0f).put(254.0f);
  for (const int8_t q : {-128, 127, 1, -1}) quants.put(q);
  const auto second_row = [&](SafetensorsBuilder builder) {
    const Files files = one(builder.tensor("wte.weight", "I8", {2, 2}, quants.bytes).build());
    const Result<ModelPlan> plan = plan_of(files, "m");
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return row(*load(files, plan.value(), "embedding"), 1);
  };
  EXPECT_THAT(second_row(SafetensorsBuilder().tensor("wte.weight_scale", "F32", {2, 1}, scales.bytes)),
              ElementsAre(2, -2));
  EXPECT_THAT(second_row(SafetensorsBuilder().tensor("wte.SCB", "F32", {2}, maxima.bytes)),
              ElementsAre(2, -2));
  EXPECT_THAT(second_row(SafetensorsBuilder()), ElementsAre(1, -1));
}

// Real files -------------------------------------------------------------------------------------------------

TEST(OpenCorpus, ResolvesTheRealModels) {
  ID2VEC_NEED_CORPUS();
  const auto tying = [](const char* folder, const char* root, std::vector<const char*> others = {}) {
    Files files;
    files[root] = corpus_file(std::string(folder) + root);
    for (const char* other : others) files[other] = corpus_file(std::string(folder) + other);
    const Result<ModelPlan> plan = plan_of(files, root);
    EXPECT_TRUE(plan.ok()) << root << ": " << plan.status().message();
    EXPECT_EQ(plan.value().roles[0].source.spec.rows, 512u) << root;
    EXPECT_EQ(plan.value().roles[0].source.spec.cols, 64u) << root;
    return plan.value().tying;
  };
  EXPECT_EQ(tying("gguf/", "stories260K.gguf"), Tying::kCompare);
  EXPECT_EQ(tying("gguf/", "stories260K.Q4_0.gguf"), Tying::kUntied);
  EXPECT_EQ(tying("gguf/", "stories260K.Q8_0.gguf"), Tying::kCompare);
  const char* hf = "safetensors/stories260K-hf/";
  EXPECT_EQ(tying(hf, "model.tied.safetensors", {"config.json"}), Tying::kAbsent);
  EXPECT_EQ(tying(hf, "model.bf16.safetensors", {"config.json"}), Tying::kAbsent);
  EXPECT_EQ(tying(hf, "model.untied-dup.safetensors", {"config.json"}), Tying::kCompare);
  EXPECT_EQ(tying(hf, "model.safetensors.index.json",
                  {"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}),
            Tying::kAbsent);
}

}  // namespace
}  // namespace id2vec

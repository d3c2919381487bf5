#include "model/contradictions.h"

#include "core/text.h"

namespace id2vec {
namespace {

void note_tying(ModelPlan& plan) {
  const int64_t stated = plan.profile.tie_word_embeddings;
  if (stated == 1 && plan.tying == ModelPlan::Tying::kUntied) {
    plan.warnings.emplace_back(
        "config.json says that head and embedding are tied, but the file holds two different tables; the "
        "stored "
        "head is used");
  }
  if (stated == 0 && plan.tying == ModelPlan::Tying::kAbsent) {
    plan.warnings.emplace_back(
        "config.json says that head and embedding are not tied, but the file holds no head; the embedding "
        "serves "
        "as both");
  }
}

void note_pieces(ModelPlan& plan, uint64_t rows) {
  const uint64_t pieces = plan.directory.vocabulary.size();
  if (pieces > rows) {
    plan.warnings.push_back(concat("the vocabulary has ", pieces, " pieces, but the embedding only ", rows,
                                   " rows: ids from ", rows, " on cannot be looked up"));
  } else if (pieces > 0 && pieces < rows) {
    plan.warnings.push_back(concat("the embedding has ", rows, " rows, but the vocabulary only ", pieces,
                                   " pieces: rows from ", pieces, " on belong to no token"));
  }
}

void note_stated_size(ModelPlan& plan, uint64_t rows) {
  double stated = plan.directory.number("config.vocab_size", 0);
  if (stated == 0) stated = plan.directory.number("config.text_config.vocab_size", 0);
  if (stated <= 0 || stated >= 0x1p53 || static_cast<uint64_t>(stated) == rows) return;
  plan.warnings.push_back(concat("config.json says that the vocabulary has ", static_cast<uint64_t>(stated),
                                 " ids, but the embedding has ", rows, " rows"));
}

void note_special_ids(ModelPlan& plan, uint64_t rows) {
  const Profile& profile = plan.profile;
  const std::pair<const char*, int64_t> ids[] = {{"padding", profile.padding_id},
                                                 {"BOS", profile.bos_id},
                                                 {"EOS", profile.eos_id},
                                                 {"unknown", profile.unknown_id}};
  for (const auto& [name, id] : ids) {
    if (id < 0 || static_cast<uint64_t>(id) < rows) continue;
    plan.warnings.push_back(concat("the ", name, " id is ", static_cast<uint64_t>(id),
                                   ", but the embedding has only ", rows, " rows"));
  }
}

}  // namespace

void note_contradictions(ModelPlan& plan) {
  note_tying(plan);
  if (plan.find("mapping") != nullptr) return;
  const uint64_t rows = plan.roles[0].source.spec.rows;
  note_pieces(plan, rows);
  note_stated_size(plan, rows);
  note_special_ids(plan, rows);
}

}  // namespace id2vec

#include "model/model.h"

#include "containers/reader.h"
#include "model/contradictions.h"
#include "model/resolve_profile.h"
#include "model/roles.h"

namespace id2vec {

uint64_t TableSource::bytes() const {
  uint64_t sum = 0;
  for (const Segment& segment : segments) sum += segment.bytes;
  return sum;
}

void write_inline(const TableSource& source, Table& table) {
  for (const auto& [plane, bytes] : source.inline_runs) {
    if (source.conversion == Conversion::kNone) {
      std::memcpy(table.plane(plane).data(), bytes.data(), bytes.size());
    } else {
      put_stored(source, plane, 0, bytes, table);
    }
  }
}

const Role* ModelPlan::find(std::string_view role) const {
  for (const Role& known : roles) {
    if (known.role == role) return &known;
  }
  return nullptr;
}

void set_profile(ModelPlan& plan, std::string_view architecture) {
  plan.profile = resolve_profile(plan.directory, {.hidden = hidden_width(plan),
                                                  .tied = plan.tying != ModelPlan::Tying::kUntied,
                                                  .architecture = architecture});
  const Role* per_layer = plan.find("per_layer");
  if (per_layer == nullptr || per_layer->source.name != plan.roles[0].source.name) return;
  plan.profile.embedding_scale = plan.profile.per_layer_scale;
}

Result<ModelPlan> open_model(FileSet& files, const OpenOptions& options) {
  ModelPlan plan;
  ID2VEC_ASSIGN(plan.directory, read_directory(files));
  ID2VEC_RETURN_IF_ERROR(resolve_roles(options, plan));
  for (std::string& sentence : plan.directory.warnings) plan.warnings.push_back(std::move(sentence));
  plan.directory.warnings.clear();
  // The roles hold copies of what they need of these.
  for (Tensor& tensor : plan.directory.tensors) tensor.inline_bytes = {};
  set_profile(plan);
  note_contradictions(plan);
  return plan;
}

}  // namespace id2vec

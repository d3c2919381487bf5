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

void write_inline(const TableSource& source, Table& table) {
  for (const InlineRun& run : source.inline_runs) put_stored(source, run.plane, 0, run.bytes, table);
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

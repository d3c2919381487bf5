#include "to_js.h"

#include <variant>
#include <vector>

namespace id2vec {

using emscripten::val;

val spec_to_js(const TableSpec& spec) {
  val object = val::object();
  object.set("dtype", text(spec.dtype->name));
  object.set("cols", spec.cols);
  object.set("groupSize", spec.affine.group_size);
  object.set("scaleType", static_cast<int>(spec.affine.scale_type));
  object.set("offsets", static_cast<int>(spec.affine.offsets));
  object.set("isSigned", spec.affine.is_signed);
  object.set("perTensor", spec.affine.per_tensor);
  object.set("zeroPoint", spec.affine.zero_point);
  object.set("scaleFactor", spec.affine.scale_factor);
  return object;
}

TableSpec spec_from_js(const val& object, uint64_t rows) {
  TableSpec spec{dtype_by_name(object["dtype"].as<std::string>()), rows, object["cols"].as<uint32_t>(), {}};
  if (!object.hasOwnProperty("groupSize")) return spec;
  spec.affine.group_size = object["groupSize"].as<uint32_t>();
  spec.affine.scale_type = static_cast<ScaleType>(object["scaleType"].as<int>());
  spec.affine.offsets = static_cast<Offsets>(object["offsets"].as<int>());
  spec.affine.is_signed = object["isSigned"].as<bool>();
  spec.affine.per_tensor = object["perTensor"].as<bool>();
  spec.affine.zero_point = object["zeroPoint"].as<int32_t>();
  spec.affine.scale_factor = object["scaleFactor"].as<float>();
  return spec;
}

namespace {

struct MetadataToJs {
  val operator()(bool value) const { return val(value); }
  val operator()(int64_t value) const { return val(static_cast<double>(value)); }
  val operator()(uint64_t value) const { return number(value); }
  val operator()(double value) const { return val(value); }
  // An array that is not taken apart: { length } alone.
  val operator()(const LongArray& value) const {
    val object = val::object();
    object.set("length", number(value.length));
    return object;
  }
  val operator()(const std::string& value) const { return val(value); }
  val operator()(const std::vector<double>& value) const {
    return array_of(value, [](double item) { return val(item); });
  }
  val operator()(const std::vector<std::string>& value) const {
    return array_of(value, [](const std::string& item) { return val(item); });
  }
};

val tensor_to_js(const Tensor& tensor, const Directory& directory) {
  val object = val::object();
  object.set("name", tensor.name);
  object.set("dtype", text(tensor.dtype->name));
  object.set("shape", array_of(tensor.shape, number));
  object.set("file", tensor.file < directory.files.size() ? val(directory.files[tensor.file]) : val::null());
  object.set("offset", number(tensor.offset));
  object.set("bytes", number(tensor.bytes));
  return object;
}

val segment_to_js(const Segment& segment) {
  val object = val::object();
  object.set("file", segment.file);
  object.set("offset", number(segment.offset));
  object.set("bytes", number(segment.bytes));
  object.set("plane", segment.plane);
  object.set("target", number(segment.target));
  return object;
}

std::string_view conversion_name(Conversion conversion) {
  switch (conversion) {
    case Conversion::kNone: return "none";
    case Conversion::kStrided: return "strided";
    case Conversion::kMxfp4: return "mxfp4";
    case Conversion::kZeroPoints: return "zero-points";
  }
  return "none";
}

val role_to_js(const Role& role) {
  const TableSource& source = role.source;
  val object = val::object();
  object.set("role", role.role);
  object.set("name", source.name);
  object.set("dtype", text(source.spec.dtype->name));
  object.set("rows", number(source.spec.rows));
  object.set("cols", source.spec.cols);
  object.set("spec", spec_to_js(source.spec));
  object.set("conversion", text(conversion_name(source.conversion)));
  object.set("bytes", number(source.bytes()));
  uint64_t inline_bytes = 0;
  for (const InlineRun& run : source.inline_runs) inline_bytes += run.bytes.size();
  object.set("inlineBytes", number(inline_bytes));
  object.set("segments", array_of(source.segments, segment_to_js));
  return object;
}

val profile_to_js(const Profile& profile) {
  val object = val::object();
  for (const ProfileEntry& entry : profile_entries(profile)) {
    const std::string key(entry.key);
    if (entry.is_text)
      object.set(key, text(entry.text));
    else if (entry.is_flag)
      object.set(key, entry.number != 0);
    else
      object.set(key, entry.number);
  }
  return object;
}

std::string_view tying_name(ModelPlan::Tying tying) {
  switch (tying) {
    case ModelPlan::Tying::kAbsent: return "absent";
    case ModelPlan::Tying::kShared: return "shared";
    case ModelPlan::Tying::kCompare: return "compare";
    case ModelPlan::Tying::kUntied: return "untied";
  }
  return "untied";
}

}  // namespace

val directory_to_js(const Directory& directory) {
  val object = val::object();
  object.set("container", text(directory.container));
  object.set("files", array_of(directory.files, text));
  object.set("tensors",
             array_of(directory.tensors, [&](const Tensor& t) { return tensor_to_js(t, directory); }));
  object.set("skipped", array_of(directory.skipped, text));
  object.set("metadata", array_of(directory.metadata, [](const auto& entry) {
               val pair = val::array();
               pair.set(0, entry.first);
               pair.set(1, std::visit(MetadataToJs{}, entry.second));
               return pair;
             }));
  return object;
}

val plan_to_js(const ModelPlan& plan) {
  val object = val::object();
  object.set("roles", array_of(plan.roles, role_to_js));
  object.set("profile", profile_to_js(plan.profile));
  object.set("tying", text(tying_name(plan.tying)));
  object.set("headProblem", plan.head_problem);
  object.set("warnings", array_of(plan.warnings, [](const std::string& item) { return val(item); }));
  return object;
}

}  // namespace id2vec

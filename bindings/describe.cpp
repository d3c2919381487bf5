#include "describe.h"

#include <optional>
#include <variant>
#include <vector>

namespace id2vec {

static void write(Answer& to, const AffineSpec& affine) {
  to.put_object("groupSize", affine.group_size, "scaleType", static_cast<int>(affine.scale_type), "offsets",
                static_cast<int>(affine.offsets), "isSigned", affine.is_signed, "perTensor",
                affine.per_tensor, "zeroPoint", affine.zero_point, "scaleFactor",
                static_cast<double>(affine.scale_factor));
}

void write(Answer& to, const TableSpec& spec) {
  to.put_object("dtype", spec.dtype->name, "cols", spec.cols, "affine", spec.affine);
}

static void write(Answer& to, const Segment& segment) {
  to.put_object("file", segment.file, "offset", segment.offset, "bytes", segment.bytes, "plane",
                segment.plane, "target", segment.target);
}

static std::string_view conversion_name(Conversion conversion) {
  switch (conversion) {
    case Conversion::kNone: return "none";
    case Conversion::kStrided: return "strided";
    case Conversion::kMxfp4: return "mxfp4";
    case Conversion::kZeroPoints: return "zero-points";
  }
  return "none";
}

static void write(Answer& to, const Role& role) {
  const TableSource& source = role.source;
  uint64_t inline_bytes = 0;
  for (const InlineRun& run : source.inline_runs) inline_bytes += run.bytes.size();
  to.put_object("role", role.role, "name", source.name, "dtype", source.spec.dtype->name, "rows",
                source.spec.rows, "cols", source.spec.cols, "spec", source.spec, "conversion",
                conversion_name(source.conversion), "bytes", source.bytes(), "inlineBytes", inline_bytes,
                "segments", source.segments);
}

static void write(Answer& to, const Profile& profile) {
  to.put_fields(profile_entries(profile), [&to](const ProfileEntry& entry) {
    to.put(entry.key);
    if (entry.is_text)
      to.put(entry.text);
    else if (entry.is_flag)
      to.put(entry.number != 0);
    else
      to.put(entry.number);
  });
}

static std::string_view tying_name(ModelPlan::Tying tying) {
  switch (tying) {
    case ModelPlan::Tying::kAbsent: return "absent";
    case ModelPlan::Tying::kShared: return "shared";
    case ModelPlan::Tying::kCompare: return "compare";
    case ModelPlan::Tying::kUntied: return "untied";
  }
  return "untied";
}

void write(Answer& to, const ModelPlan& plan) {
  to.put_object("roles", plan.roles, "profile", plan.profile, "tying", tying_name(plan.tying), "headProblem",
                plan.head_problem, "warnings", plan.warnings);
}

// An array that is not taken apart: its length alone.
static void write(Answer& to, const LongArray& array) { to.put_object("length", array.length); }

static void put_tensors(Answer& to, const Directory& directory) {
  to.put_list(directory.tensors, [&](const Tensor& tensor) {
    std::optional<std::string_view> file;  // none where the elements stand in the header
    if (tensor.file < directory.files.size()) file = directory.files[tensor.file];
    to.put_object("name", tensor.name, "dtype", tensor.dtype->name, "shape", tensor.shape, "file", file,
                  "offset", tensor.offset, "bytes", tensor.bytes);
  });
}

static void put_metadata(Answer& to, const Directory& directory) {
  to.put_list(directory.metadata, [&](const auto& entry) {
    to.put_array(entry.first, [&] { std::visit([&](const auto& value) { to.put(value); }, entry.second); });
  });
}

void write(Answer& to, const Directory& directory) {
  to.put_object(
      "container", directory.container, "files", directory.files, "skipped", directory.skipped, "tensors",
      [&] { put_tensors(to, directory); }, "metadata", [&] { put_metadata(to, directory); });
}

static void write(Answer& to, const FormatCost& cost) {
  to.put_object("format", cost.format, "bytes", cost.bytes);
}

static void write(Answer& to, const FactorCost& cost) {
  to.put_object("rank", cost.rank, "parameters", cost.parameters, "bytes", cost.bytes);
}

void write(Answer& to, const MemoryBill& bill) {
  to.put_object("parameters", bill.parameters, "bytes", bill.bytes, "bitsPerWeight", bill.bits_per_weight,
                "shareOfFile", bill.share_of_file, "savedByTying", bill.saved_by_tying, "formats",
                bill.formats, "factorized", bill.factorized, "breakEvenRank", bill.break_even_rank);
}

}  // namespace id2vec

#include "cli/sstat/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

const std::string_view kSstatDefault =
    "JobID,AllocTRES,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,MaxRSSNode,MaxRSSTask,"
    "AveRSS,MaxPages,MaxPagesNode,MaxPagesTask,AvePages,MinCPU,MinCPUNode,MinCPUTask,AveCPU,NTasks,"
    "AveCPUFreq,ReqCPUFreqMin,ReqCPUFreqMax,ReqCPUFreqGov,ConsumedEnergy,MaxDiskRead,"
    "MaxDiskReadNode,MaxDiskReadTask,AveDiskRead,MaxDiskWrite,MaxDiskWriteNode,MaxDiskWriteTask,"
    "AveDiskWrite,TRESUsageInAve,TRESUsageInMax,TRESUsageInMaxNode,TRESUsageInMaxTask,"
    "TRESUsageInMin,TRESUsageInMinNode,TRESUsageInMinTask,TRESUsageInTot,TRESUsageOutAve,"
    "TRESUsageOutMax,TRESUsageOutMaxNode,TRESUsageOutMaxTask,TRESUsageOutMin,TRESUsageOutMinNode,"
    "TRESUsageOutMinTask,TRESUsageOutTot";
const std::string_view kSstatPids = "JobID,Nodelist,Pids";

namespace {

std::string job_id(const StepUsageNow& step) {
    return step.step.id;
}
std::string alloc_tres(const StepUsageNow& step) {
    return step.step.tres;
}
std::string sluid(const StepUsageNow& step) {
    return step.step.sluid;
}
std::string tasks(const StepUsageNow& step) {
    return fmt::format("{}", step.tasks);
}
std::string nodes(const StepUsageNow& step) {
    return step.step.nodes;
}
std::string pids(const StepUsageNow& step) {
    std::vector<std::uint32_t> all;
    for (const PartUsage& part : step.parts) {
        all.insert(all.end(), part.pids.begin(), part.pids.end());
    }
    return fmt::format("{}", fmt::join(all, ","));
}
// Compat: --cpu-freq does not exist here; this is how a step without it is shown.
std::string cpu_frequency_asked(const StepUsageNow& step) {
    return step.step.step == kBatchStep ? "0" : "Unknown";
}

constexpr SstatField kOwnFields[] = {
    {"AllocTRES", 10, {}, alloc_tres},
    {"JobID", 12, {}, job_id, true},
    {"Nodelist", 20, {}, nodes},
    {"NTasks", 8, {}, tasks},
    {"Pids", 20, {}, pids},
    {"ReqCPUFreq", 10, {}, cpu_frequency_asked},
    {"ReqCPUFreqMin", 13, {}, cpu_frequency_asked},
    {"ReqCPUFreqMax", 13, {}, cpu_frequency_asked},
    {"ReqCPUFreqGov", 13, {}, cpu_frequency_asked},
    {"SLUID", 14, {}, sluid},
};

// While a step runs, the times of user and system are not told apart.
bool is_for_sacct(UsageField field) {
    return field == UsageField::SystemCPU || field == UsageField::TotalCPU ||
           field == UsageField::UserCPU;
}

// By name, in alphabetical order as far as case does not count.
std::vector<SstatField> all_fields_by_name() {
    std::vector<SstatField> all(std::begin(kOwnFields), std::end(kOwnFields));
    for (const UsageFieldRow& row : usage_fields()) {
        if (is_for_sacct(row.field)) continue;
        all.push_back({row.name, static_cast<std::uint32_t>(row.width), row.field});
    }
    std::stable_sort(all.begin(), all.end(), [](const SstatField& a, const SstatField& b) {
        return to_lower(a.name) < to_lower(b.name);
    });
    return all;
}

// Compat: the beginning of a name will do.
std::optional<SstatField> find_field(const std::vector<SstatField>& fields, std::string_view name) {
    for (const SstatField& field : fields) {
        if (equals_ignoring_case(field.name, name)) return field;
    }
    for (const SstatField& field : fields) {
        if (!name.empty() && starts_with_ignoring_case(field.name, name)) return field;
    }
    return {};
}

}  // namespace

Result<std::vector<SstatColumn>> sstat_columns(std::string_view format) {
    const std::vector<SstatField> fields = all_fields_by_name();
    std::vector<SstatColumn> columns;
    for (const ReportWord& word : TRY(split_report_format(format))) {
        const std::optional<SstatField> field = find_field(fields, word.name);
        if (!field) {
            return Error{ErrorCode::NotFound,
                         fmt::format("Invalid field requested: \"{}\"", word.name)};
        }
        const bool left = word.left || (field->left && !word.width);
        columns.push_back(
            {*field, {std::string(field->name), word.width.value_or(field->width), left}});
    }
    if (columns.empty()) return Error{ErrorCode::NotFound, "No fields requested"};
    return columns;
}

std::vector<std::string_view> sstat_field_names() {
    std::vector<std::string_view> names;
    for (const SstatField& field : all_fields_by_name()) names.push_back(field.name);
    return names;
}

std::string sstat_field_list() {
    constexpr std::size_t kColumns = 4;
    const std::vector<std::string_view> names = sstat_field_names();
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const bool is_last = i % kColumns == kColumns - 1 || i + 1 == names.size();
        out += fmt::format("{:<19}{}", names[i], is_last ? "\n" : " ");
    }
    return out;
}

std::string sstat_text(const SstatField& field, const StepUsageNow& step, const UnitStyle& style) {
    return field.usage ? usage_text(*field.usage, step.usage, style) : field.text(step);
}

}  // namespace sluice

// See accounted_table.h.
#include "surface/accounted_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/job.h"
#include "model/times.h"

namespace sluice {

const std::string_view kAccountedLongFormat =
    "JobID,JobIDRaw,JobName,Partition,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,"
    "MaxRSSNode,MaxRSSTask,AveRSS,MaxPages,MaxPagesNode,MaxPagesTask,AvePages,MinCPU,MinCPUNode,"
    "MinCPUTask,AveCPU,NTasks,AllocCPUS,Elapsed,State,ExitCode,AveCPUFreq,ReqCPUFreqMin,"
    "ReqCPUFreqMax,ReqCPUFreqGov,ReqMem,ConsumedEnergy,MaxDiskRead,MaxDiskReadNode,"
    "MaxDiskReadTask,AveDiskRead,MaxDiskWrite,MaxDiskWriteNode,MaxDiskWriteTask,AveDiskWrite,"
    "ReqTRES,AllocTRES,TRESUsageInAve,TRESUsageInMax,TRESUsageInMaxNode,TRESUsageInMaxTask,"
    "TRESUsageInMin,TRESUsageInMinNode,TRESUsageInMinTask,TRESUsageInTot,TRESUsageOutMax,"
    "TRESUsageOutMaxNode,TRESUsageOutMaxTask,TRESUsageOutAve,TRESUsageOutTot";

namespace {

using Line = AccountedLine;

// ---- cells of a type. Most properties are the job's alone: the lines of steps leave them empty.

template <std::string AccountedJob::*Member>
void job_text(const Line& line, std::string& out) {
    if (!line.step) out += line.job().*Member;
}
template <std::string AccountedJob::*Job, std::string AccountedStep::*Step>
void either_text(const Line& line, std::string& out) {
    out += line.step ? line.step->*Step : line.job().*Job;
}
template <std::string AccountedJob::*Job, std::string AccountedStep::*Step>
void file_text(const Line& line, std::string& out) {
    const std::string& pattern = line.step ? line.step->*Step : line.job().*Job;
    out += file_name_text(line, pattern, line.looks->expand_patterns);
}
void moment(std::optional<Time> time, const Line& line, std::string_view if_none,
            std::string& out) {
    if (time && *time != Time{}) {
        out += print_moment(*time, line.looks->time_format, line.looks->now);
    } else {
        out += if_none;
    }
}
void number(std::uint64_t value, std::string& out) {
    out += fmt::format_int(value).c_str();
}
void nothing(const Line&, std::string&) {}

// ---- who and what

void job_id(const Line& line, std::string& out) {
    out += job_id_text(line);
}
void job_id_raw(const Line& line, std::string& out) {
    out += raw_job_id_text(line);
}
void sluid(const Line& line, std::string& out) {
    if (line.job().sluid) out += print_sluid(line.job().sluid);
}
void original_sluid(const Line& line, std::string& out) {
    if (line.job().restarts == 0) sluid(line, out);
}
void database_index(const Line& line, std::string& out) {
    number(line.job().sluid, out);
}
void account(const Line& line, std::string& out) {
    out += line.job().account;
}
void association(const Line& line, std::string& out) {
    number(line.job().association, out);
}
void cluster(const Line& line, std::string& out) {
    out += line.run->cluster;
}
void user(const Line& line, std::string& out) {
    if (!line.step) out += line.looks->names->user(line.job().user);
}
void group(const Line& line, std::string& out) {
    if (!line.step) out += line.looks->names->group(line.job().group);
}
void user_id(const Line& line, std::string& out) {
    if (!line.step) number(line.job().user.value, out);
}
void group_id(const Line& line, std::string& out) {
    if (!line.step) number(line.job().group.value, out);
}
void raw_id(const Line& line, const std::map<std::string, std::uint32_t>& ids,
            const std::string& name, std::string& out) {
    if (line.step) return;
    auto found = ids.find(name);
    number(found == ids.end() ? 0 : found->second, out);
}
void qos_id(const Line& line, std::string& out) {
    raw_id(line, line.looks->qos_ids, line.job().qos, out);
}
void wckey_id(const Line& line, std::string& out) {
    raw_id(line, line.looks->wckey_ids, line.job().wckey, out);
}
void reservation_id(const Line& line, std::string& out) {
    if (!line.job().reservation.empty()) {
        raw_id(line, line.looks->reservation_ids, line.job().reservation, out);
    }
}
void flags(const Line& line, std::string& out) {
    if (!line.step) out += accounted_flags_text(line.job().flags);
}
void restarts(const Line& line, std::string& out) {
    number(line.job().restarts, out);
}
void priority(const Line& line, std::string& out) {
    if (!line.step) number(line.job().priority, out);
}
void layout(const Line& line, std::string& out) {
    if (line.step) out += line.step->layout.empty() ? "Unknown" : line.step->layout;
}
// Compat: frequencies of CPUs cannot be requested; the batch script has a zero there.
void requested_frequency(const Line& line, std::string& out) {
    const bool is_script = line.step && line.step->step == kBatchStep;
    out += is_script ? "0" : "Unknown";
}

// ---- how it went

void state(const Line& line, std::string& out) {
    const ShownState shown = shown_state(line);
    out += state_name(shown);
    const std::optional<UserId> by = line.step ? line.step->killed_by : line.job().killed_by;
    if (shown == ShownState::Cancelled && by) out += fmt::format(" by {}", by->value);
}
void reason(const Line& line, std::string& out) {
    if (!line.step) out += reason_name(line.job().reason);
}
void exit_code(const Line& line, std::string& out) {
    out += exit_text(line.step ? line.step->exit : line.job().exit);
}
void derived_exit_code(const Line& line, std::string& out) {
    if (!line.step) out += exit_text(line.job().derived_exit);
}

// ---- when

void submit(const Line& line, std::string& out) {
    moment(line.step ? line.step->start : line.job().submit, line, "Unknown", out);
}
void eligible(const Line& line, std::string& out) {
    moment(line.step ? line.step->start : line.job().eligible, line, "Unknown", out);
}
// Compat: a job that ended before it began has the start "None".
void start(const Line& line, std::string& out) {
    const ShownTimes times = times_of(line);
    moment(times.start, line, times.end ? "None" : "Unknown", out);
}
void end(const Line& line, std::string& out) {
    moment(times_of(line).end, line, "Unknown", out);
}
void elapsed(const Line& line, std::string& out) {
    out += print_duration(times_of(line).elapsed);
}
void elapsed_raw(const Line& line, std::string& out) {
    number(static_cast<std::uint64_t>(times_of(line).elapsed.count()), out);
}
void suspended(const Line& line, std::string& out) {
    out += print_duration(times_of(line).suspended);
}
std::int64_t cpu_seconds(const Line& line) {
    return times_of(line).elapsed.count() * allocated_cpus(line);
}
void cpu_time(const Line& line, std::string& out) {
    out += print_duration(Seconds{cpu_seconds(line)});
}
void cpu_time_raw(const Line& line, std::string& out) {
    out += fmt::to_string(cpu_seconds(line));
}
void planned(const Line& line, std::string& out) {
    if (line.step) return;
    const std::optional<Seconds> length = planned_time(line);
    out += length ? print_duration(*length) : "INVALID";
}
void planned_cpu(const Line& line, std::string& out) {
    if (line.step) return;
    const std::optional<Seconds> length = planned_time(line);
    out += length ? print_duration(*length * line.job().cpus_requested) : "INVALID";
}
void planned_cpu_raw(const Line& line, std::string& out) {
    if (line.step) return;
    const Seconds length = planned_time(line).value_or(Seconds{0});
    out += fmt::to_string((length * line.job().cpus_requested).count());
}
// Of a step only a limit of its own.
void time_limit(const Line& line, std::string& out) {
    const TimeLimit limit = line.step ? line.step->time_limit : line.job().time_limit;
    if (!line.step || !limit.unlimited()) out += print_time_limit(limit);
}
void time_limit_raw(const Line& line, std::string& out) {
    const TimeLimit limit = line.step ? line.step->time_limit : line.job().time_limit;
    if (limit.unlimited()) {
        if (!line.step) out += "UNLIMITED";
        return;
    }
    out += fmt::to_string(std::chrono::duration_cast<Minutes>(limit.length()).count());
}

// ---- how much

void cpus(const Line& line, std::string& out) {
    number(allocated_cpus(line), out);
}
void requested_cpus(const Line& line, std::string& out) {
    number(line.step ? line.step->cpus : line.job().cpus_requested, out);
}
void allocated_nodes(const Line& line, std::string& out) {
    number(line.step ? line.step->node_count : line.job().node_count, out);
}
void requested_nodes(const Line& line, std::string& out) {
    number(line.step ? line.step->node_count : line.job().nodes_requested, out);
}
void node_count(const Line& line, std::string& out) {
    if (line.step || line.job().node_count) return allocated_nodes(line, out);
    requested_nodes(line, out);
}
void node_list(const Line& line, std::string& out) {
    const std::string& names = line.step ? line.step->node_names : line.job().node_names;
    out += names.empty() ? "None assigned" : names;
}
void tasks(const Line& line, std::string& out) {
    if (line.step) number(line.step->tasks, out);
}
void allocated_tres(const Line& line, std::string& out) {
    out += accounted_tres_text(line.step ? line.step->tres_allocated : line.job().tres_allocated,
                               line.looks->units);
}
void requested_tres(const Line& line, std::string& out) {
    if (!line.step) out += accounted_tres_text(line.job().tres_requested, line.looks->units);
}
void requested_memory(const Line& line, std::string& out) {
    if (line.step) return;
    auto memory = line.job().tres_requested.find("mem");
    const Megabytes amount = memory == line.job().tres_requested.end() ? 0 : memory->second;
    out += accounted_memory_text(amount, line.looks->units);
}

// clang-format off
using J = AccountedJob;
using S = AccountedStep;
constexpr AccountedField kOwnFields[] = {
    {"Account",           10, false, account},
    {"AdminComment",      15, false, job_text<&J::admin_comment>},
    {"AllocCPUS",         10, false, cpus},
    {"AllocNodes",        10, false, allocated_nodes},
    {"AllocTRES",         10, false, allocated_tres},
    {"AssocID",            7, false, association},
    {"BlockID",           16, false, nothing},
    {"Cluster",           10, false, cluster},
    {"Comment",           14, false, job_text<&J::comment>},
    {"Constraints",       19, false, job_text<&J::constraint>},
    {"Container",         19, false, either_text<&J::container, &S::container>},
    {"CPUTime",           10, false, cpu_time},
    {"CPUTimeRAW",        10, false, cpu_time_raw},
    {"DBIndex",           10, true,  database_index},
    {"DerivedExitCode",   15, false, derived_exit_code},
    {"Elapsed",           10, false, elapsed},
    {"ElapsedRaw",        10, false, elapsed_raw},
    {"Eligible",          19, false, eligible},
    {"End",               19, false, end},
    {"Exclusive",          9, false, nothing},
    {"ExitCode",           8, false, exit_code},
    {"Extra",             19, false, job_text<&J::extra>},
    {"FailedNode",        19, false, job_text<&J::failed_node>},
    {"Flags",             19, false, flags},
    {"GID",                6, false, group_id},
    {"Group",              9, false, group},
    {"JobID",             12, true,  job_id},
    {"JobIDRaw",          12, true,  job_id_raw},
    {"JobName",           10, false, either_text<&J::name, &S::name>},
    {"Layout",             9, false, layout},
    {"Licenses",          19, false, job_text<&J::licenses>},
    {"McsLabel",          12, false, nothing},
    {"NCPUS",             10, false, cpus},
    {"NNodes",             8, false, node_count},
    {"NodeList",          15, false, node_list},
    {"NTasks",             8, false, tasks},
    {"OriginalSLUID",     14, false, original_sluid},
    {"OverSubscribe",     13, false, nothing},
    {"Partition",         10, false, job_text<&J::partition>},
    {"Planned",           10, false, planned},
    {"PlannedCPU",        10, false, planned_cpu},
    {"PlannedCPURAW",     13, false, planned_cpu_raw},
    {"Priority",          10, false, priority},
    {"QOS",               10, false, job_text<&J::qos>},
    {"QOSRAW",             6, false, qos_id},
    {"QOSREQ",            10, false, job_text<&J::qos_requested>},
    {"Reason",            22, false, reason},
    {"ReqCPUFreq",        10, false, requested_frequency},
    {"ReqCPUFreqGov",     13, false, requested_frequency},
    {"ReqCPUFreqMax",     13, false, requested_frequency},
    {"ReqCPUFreqMin",     13, false, requested_frequency},
    {"ReqCPUS",            8, false, requested_cpus},
    {"ReqMem",            10, false, requested_memory},
    {"ReqNodes",           8, false, requested_nodes},
    {"ReqReservation",    20, false, job_text<&J::reservation_requested>},
    {"ReqTRES",           10, false, requested_tres},
    {"Reservation",       20, false, job_text<&J::reservation>},
    {"ReservationId",      8, false, reservation_id},
    {"Restarts",           8, false, restarts},
    {"SegmentSize",       11, false, nothing},
    {"SLUID",             14, false, sluid},
    {"Start",             19, false, start},
    {"State",             10, false, state},
    {"StdErr",            20, false, file_text<&J::std_err, &S::std_err>},
    {"StdIn",             20, false, file_text<&J::std_in, &S::std_in>},
    {"StdOut",            20, false, file_text<&J::std_out, &S::std_out>},
    {"Submit",            19, false, submit},
    {"SubmitLine",        20, false, either_text<&J::submit_line, &S::submit_line>},
    {"Suspended",         10, false, suspended},
    {"SystemComment",     15, false, job_text<&J::system_comment>},
    {"Timelimit",         10, false, time_limit},
    {"TimelimitRaw",      10, false, time_limit_raw},
    {"UID",                6, false, user_id},
    {"User",               9, false, user},
    {"WCKey",             10, false, job_text<&J::wckey>},
    {"WCKeyID",           10, false, wckey_id},
    {"WorkDir",           20, false, job_text<&J::work_dir>},
};
// clang-format on

// Together with the fields of usage, in the order of the alphabet.
std::vector<AccountedField> all_fields() {
    std::vector<AccountedField> fields(std::begin(kOwnFields), std::end(kOwnFields));
    for (const UsageFieldRow& row : usage_fields()) {
        fields.push_back(
            {.name = row.name, .width = static_cast<std::uint32_t>(row.width), .usage = row.field});
    }
    std::sort(fields.begin(), fields.end(),
              [](const auto& a, const auto& b) { return to_lower(a.name) < to_lower(b.name); });
    return fields;
}

bool is_of_jobs_too(UsageField field) {
    return field == UsageField::SystemCPU || field == UsageField::UserCPU ||
           field == UsageField::TotalCPU;
}

}  // namespace

std::span<const AccountedField> accounted_fields() {
    static const std::vector<AccountedField> kFields = all_fields();
    return kFields;
}

const AccountedField* find_accounted_field(std::string_view name) {
    for (const AccountedField& field : accounted_fields()) {
        if (equals_ignoring_case(field.name, name)) return &field;
    }
    for (const AccountedField& field : accounted_fields()) {
        if (!name.empty() && starts_with_ignoring_case(field.name, name)) return &field;
    }
    return nullptr;
}

void append_field(const AccountedField& field, const AccountedLine& line, std::string& out) {
    if (!field.usage) return field.append(line, out);
    if (line.step || is_of_jobs_too(*field.usage)) {
        out += usage_text(*field.usage, usage_of(line), line.looks->units);
    }
}

}  // namespace sluice

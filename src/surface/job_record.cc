// surface/job_record.cc
//
// scontrol show job and show step. Compat: the order of lines and words is what people's scripts
// know; optional lines come only when set.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/columns.h"
#include "model/hostlist.h"
#include "model/quantity.h"
#include "surface/jobs.h"
#include "surface/record.h"
#include "surface/steps.h"

namespace sluice {

namespace {

using C = JobColumn;

std::string reason_text(const SheetRow& job) {
    std::string text;
    append_reason(job, text);
    // Compat: words of a record are cut at blanks, so a reason has none.
    for (char& c : text) {
        if (c == ' ') c = '_';
    }
    return text;
}

void add_identity(const SheetRow& job, const RecordStyle& style, Record& record) {
    record.add("JobId={}", job.number(C::Id));
    if (job.has(C::ArrayJobId)) {
        std::string tasks;
        append_array_tasks(job, tasks);
        record.add(" ArrayJobId={} ArrayTaskId={}", job.number(C::ArrayJobId), tasks);
        if (job.number(C::ArrayLimit) > 0)
            record.add(" ArrayTaskThrottle={}", job.number(C::ArrayLimit));
    }
    record.add(" JobName={}", or_null(job.text(C::Name)));
    if (style.details) record.line("SLUID={}", job.text(C::Sluid));
    record.line("UserId={}({}) GroupId={}({}) MCS_label=N/A",
                job.sheet->user_name(job.number(C::UserId)), job.number(C::UserId),
                job.sheet->group_name(job.number(C::GroupId)), job.number(C::GroupId));
    record.line("Priority={} Nice={} Account={} QOS={}", or_zero(job.number(C::Priority)),
                or_zero(job.number(C::Nice)), or_null(job.text(C::Account)),
                or_null(job.text(C::Qos)));
    if (!job.text(C::Wckey).empty()) record.add(" WCKey={}", job.text(C::Wckey));
}

void add_state(const SheetRow& job, const RecordStyle& style, Record& record) {
    std::string exit, derived;
    append_exit_code(job.number(C::ExitCode), exit);
    append_exit_code(job.number(C::DerivedExitCode), derived);
    record.line("JobState={} Reason={} Dependency={}", state_name(shown_state(job)),
                reason_text(job), or_null(job.text(C::Dependency)));
    record.line("Requeue={} Restarts={} BatchFlag={} Reboot=0 ExitCode={}",
                or_zero(job.number(C::Requeue)), or_zero(job.number(C::Restarts)),
                or_zero(job.number(C::Batch)), exit);
    if (style.details) record.line("DerivedExitCode={}", derived);
}

void add_times(const SheetRow& job, Record& record) {
    const Looks& looks = job.looks();
    auto moment = [&](C column, std::string_view none) {
        return moment_text(job.number(column), none, looks);
    };
    record.line("RunTime={} TimeLimit={} TimeMin={}", long_duration_text(elapsed_seconds(job), ""),
                long_duration_text(job.number(C::TimeLimit), "Partition_Limit"),
                long_duration_text(job.number(C::TimeMin), "N/A"));
    record.line("SubmitTime={} EligibleTime={}", moment(C::SubmitTime, "Unknown"),
                moment(C::EligibleTime, "Unknown"));
    record.line("AccrueTime={}", moment(C::EligibleTime, "Unknown"));
    record.line("StartTime={} EndTime={} Deadline={}", moment(C::StartTime, "Unknown"),
                moment(C::EndTime, "Unknown"), moment(C::Deadline, "N/A"));
    const std::int64_t suspended = job.number(C::SuspendTime);
    std::int64_t before = 0;  // how long it had run by then
    if (suspended > 0) {
        before = suspended - job.number(C::StartTime) - or_zero(job.number(C::SuspendedSeconds));
    }
    record.line("SuspendTime={} SecsPreSuspend={} LastSchedEval={} Scheduler=Main",
                moment(C::SuspendTime, "None"), before, moment(C::LastSchedEval, "Unknown"));
}

void add_places(const SheetRow& job, Record& record) {
    std::string nodes;
    append_nodes(job, nodes);
    record.line("Partition={} AllocNode:Sid={}:{}", or_null(job.text(C::Partition)),
                or_null(job.text(C::AllocNode)), or_zero(job.number(C::AllocSid)));
    record.line("ReqNodeList={} ExcNodeList={}", or_null(job.text(C::ReqNodes)),
                or_null(job.text(C::ExcNodes)));
    record.line("NodeList={}", nodes);
    const std::string_view planned = job.text(C::SchedNodes);
    if (!planned.empty()) record.add(" SchedNodeList={}", planned);
    if (!job.text(C::BatchHost).empty()) record.line("BatchHost={}", job.text(C::BatchHost));
}

// The devices of all nodes together: "gpu:h100:2".
std::string total_gres(std::string_view detail) {
    std::vector<GresCount> total;
    for (std::string_view line : split(detail, '\n')) {
        const std::size_t at = line.find("GRES=");
        if (at == std::string_view::npos) continue;
        std::string counts;  // without the indexes in parentheses
        int depth = 0;
        for (char c : line.substr(at + 5)) {
            if (c == '(') ++depth;
            if (depth == 0) counts += c;
            if (c == ')') --depth;
        }
        Result<std::vector<GresCount>> gres = parse_gres(trim(counts));
        if (!gres) continue;
        for (const GresCount& each : *gres) {
            auto same = [&](const GresCount& other) {
                return other.name == each.name && other.type == each.type;
            };
            auto known = std::find_if(total.begin(), total.end(), same);
            if (known == total.end()) {
                total.push_back(each);
            } else {
                known->count += each.count;
            }
        }
    }
    return print_gres(total);
}

// Compat: neighbours that give the same share one line: "Nodes=n[1-2] CPU_IDs=0 Mem=100 GRES=".
std::vector<std::string> merged_details(std::string_view detail) {
    std::vector<std::string> lines, names;
    std::string_view given;  // by each of the names
    const auto end_line = [&] {
        if (names.empty()) return;
        const Hostlist hosts(std::exchange(names, {}));
        lines.push_back(fmt::format("Nodes={}{}", hosts.to_string(), given));
    };
    for (std::string_view line : split(detail, '\n')) {
        const std::string_view name = word_value(line, "Nodes=");
        if (name.empty()) continue;
        const std::string_view gives = line.substr(line.find(name) + name.size());
        if (gives != given) end_line();
        given = gives;
        names.emplace_back(name);
    }
    end_line();
    return lines;
}

std::string or_star(const SheetRow& job, C column) {
    return job.has(column) ? fmt::format("{}", job.number(column)) : "*";
}

void add_memory(const SheetRow& job, Record& record) {
    struct Way {
        C column;
        std::string_view word;
    };
    constexpr Way kWays[] = {
        {C::MemPerGpu, "TRES"}, {C::MemPerNode, "Node"}, {C::MemPerCpu, "CPU"}};
    Way way = kWays[1];
    for (const Way& each : kWays) {
        if (!job.has(each.column)) continue;
        way = each;
        break;
    }
    record.line("MinCPUsNode={} MinMemory{}={} MinTmpDiskNode={}",
                job.has(C::MinCpusNode) ? job.number(C::MinCpusNode) : 1, way.word,
                memory_text(job.number(way.column), job.looks()),
                memory_text(job.number(C::MinTmpDisk), job.looks()));
}

// Facts that have a line of their own only when they were asked for.
void add_text_line(const SheetRow& job, std::string_view name, C column, Record& record) {
    if (!job.text(column).empty()) record.line("{}={}", name, job.text(column));
}

void add_layout(const SheetRow& job, Record& record) {
    if (job.has(C::SwitchesMax)) {
        record.line("Switches={}@{}", job.number(C::SwitchesMax),
                    long_duration_text(job.number(C::SwitchesWait), "00:00:00"));
    }
    const bool binds = job.number(C::GresEnforceBind) == 1;
    const bool spreads = job.number(C::SpreadJob) == 1;
    if (binds || spreads) {
        record.line("{}{}{}", binds ? "GresEnforceBind=Yes" : "", binds && spreads ? " " : "",
                    spreads ? "SpreadJob=Yes" : "");
    }
    add_text_line(job, "CpusPerTres", C::CpusPerTres, record);
    add_text_line(job, "MemPerTres", C::MemPerTres, record);
    add_text_line(job, "TresBind", C::TresBind, record);
    add_text_line(job, "TresFreq", C::TresFreq, record);
    add_text_line(job, "TresPerJob", C::TresPerJob, record);
    add_text_line(job, "TresPerNode", C::TresPerNode, record);
    add_text_line(job, "TresPerSocket", C::TresPerSocket, record);
    add_text_line(job, "TresPerTask", C::TresPerTask, record);
    if (job.has(C::NtasksPerGpu)) record.line("NtasksPerTRES={}", job.number(C::NtasksPerGpu));
}

void add_sizes(const SheetRow& job, const RecordStyle& style, Record& record) {
    const bool pending = base_state(job) == JobState::Pending;
    const std::string_view sizes = pending ? job.text(C::NodeSizes) : std::string_view{};
    record.line("NumNodes={}", sizes.empty() ? fmt::format("{}", or_zero(job.number(C::NodeCount)))
                                             : std::string(sizes));
    const std::int64_t most = job.number(C::NodeCountMax);
    const bool limited = most != kAbsent && most != kUnlimited;
    if (pending && sizes.empty() && limited && most != job.number(C::NodeCount)) {
        record.add("-{}", most);
    }
    record.add(" NumCPUs={} NumTasks={} CPUs/Task={} ReqB:S:C:T=0:0:{}:{}",
               or_zero(job.number(C::CpuCount)),
               job.has(C::TaskCount) ? job.number(C::TaskCount) : 1,
               job.has(C::CpusPerTask) ? job.number(C::CpusPerTask) : 1,
               or_star(job, C::CoresPerSocket), or_star(job, C::ThreadsPerCore));
    record.line("ReqTRES={}", or_null(job.text(C::ReqTres)));
    record.line("AllocTRES={}", or_null(job.text(C::AllocTres)));
    const bool threads = job.has(C::ThreadSpec);
    record.line("Socks/Node={} NtasksPerN:B:S:C={}:0:{}:{} {}Spec={}",
                or_star(job, C::SocketsPerNode), or_zero(job.number(C::NtasksPerNode)),
                or_star(job, C::NtasksPerSocket), or_star(job, C::NtasksPerCore),
                threads ? "Thread" : "Core", or_star(job, threads ? C::ThreadSpec : C::CoreSpec));
    std::string_view detail = job.text(C::AllocDetail);
    if (style.details && !detail.empty()) {
        const std::string gres = total_gres(detail);
        record.line("JOB_GRES={}", or_null(gres));
        for (const std::string& line : merged_details(detail)) record.line("  {}", line);
    }
    add_memory(job, record);
}

void add_wishes(const SheetRow& job, Record& record) {
    record.line("Features={} DelayBoot=00:00:00", or_null(job.text(C::Features)));
    add_text_line(job, "Prefer", C::Prefer, record);
    if (!job.text(C::Reservation).empty()) record.line("Reservation={}", job.text(C::Reservation));
    record.line(
        "OverSubscribe={} Exclusive={} Contiguous={} Licenses={} LicensesAlloc={} "
        "Network=(null)",
        over_subscribe_word(job), exclusive_word(job), job.number(C::Contiguous) == 1 ? 1 : 0,
        or_null(job.text(C::Licenses)), or_null(job.text(C::LicensesAlloc)));
    record.line("Command={}", or_null(job.text(C::Command)));
    if (!job.text(C::SubmitLine).empty()) record.line("SubmitLine={}", job.text(C::SubmitLine));
    record.line("WorkDir={}", or_null(job.text(C::WorkDir)));
    if (!job.text(C::AdminComment).empty())
        record.line("AdminComment={}", job.text(C::AdminComment));
    if (!job.text(C::Comment).empty()) record.line("Comment={}", job.text(C::Comment));
    if (job.number(C::Batch) == 1) {
        record.line("StdErr={}", expanded_path(job, job.text(C::StdErr)));
        record.line("StdIn={}", expanded_path(job, job.text(C::StdIn)));
        record.line("StdOut={}", expanded_path(job, job.text(C::StdOut)));
    }
    add_layout(job, record);
    if (!job.text(C::MailType).empty()) {
        const std::string_view user = job.text(C::MailUser);
        record.line("MailUser={} MailType={}",
                    user.empty() ? job.sheet->user_name(job.number(C::UserId)) : std::string(user),
                    job.text(C::MailType));
    }
    if (job.has(C::LastCheckpoint)) {
        record.line("LastCheckpoint={}",
                    moment_text(job.number(C::LastCheckpoint), "None", job.looks()));
    }
    if (job.number(C::KillOnInvalidDep) == 1) record.line("KillOnInvalidDependent=Yes");
}

}  // namespace

void append_job_record(const SheetRow& job, const RecordStyle& style, std::string& out) {
    Record record(out, style);
    add_identity(job, style, record);
    add_state(job, style, record);
    add_times(job, record);
    add_places(job, record);
    add_sizes(job, style, record);
    add_wishes(job, record);
}

void append_step_record(const SheetRow& step, const RecordStyle& style, std::string& out) {
    using S = StepColumn;
    std::string id;
    append_step_id(step, id);
    const std::int64_t limit = step.has(S::TimeLimit) ? step.number(S::TimeLimit) : kUnlimited;
    Record record(out, style);
    record.add("StepId={} UserId={} StartTime={} TimeLimit={}", id, step.number(S::UserId),
               moment_text(step.number(S::StartTime), "Unknown", step.looks()),
               long_duration_text(limit, "UNLIMITED"));
    record.line("State={} Partition={} NodeList={}", step_state_name(step),
                or_null(step.text(S::Partition)), or_null(step.text(S::NodeList)));
    record.line("Nodes={} CPUs={} Tasks={} Name={} Network=(null)",
                or_zero(step.number(S::NodeCount)), or_zero(step.number(S::CpuCount)),
                or_zero(step.number(S::TaskCount)), or_null(step.text(S::Name)));
    record.line("TRES={}", or_null(step.text(S::Tres)));
    record.line("ResvPorts=(null)");
    record.line("CPUFreqReq=Default");
    record.line("SrunHost:Pid={}:0", or_null(step.text(S::SubmitHost)));
    if (!step.text(S::TresBind).empty()) record.line("TresBind={}", step.text(S::TresBind));
    if (!step.text(S::TresPerNode).empty())
        record.line("TresPerNode={}", step.text(S::TresPerNode));
}

}  // namespace sluice

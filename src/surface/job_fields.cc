// surface/job_fields.cc
//
// The fields of squeue: -o letters, -O names, headings, --sort. Irregularities are cells.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/job.h"
#include "surface/cells.h"
#include "surface/jobs.h"

namespace sluice {

namespace {

using C = JobColumn;
using M = Missing;

void job_id(const SheetRow& job, std::string& out) {
    append_job_id(job, out);
}

void array_job_id(const SheetRow& job, std::string& out) {
    append_number(job.number(job.has(C::ArrayJobId) ? C::ArrayJobId : C::Id), out);
}

void array_task_id(const SheetRow& job, std::string& out) {
    const std::size_t start = out.size();
    append_array_tasks(job, out);
    if (out.size() == start) out += "N/A";
}

// Compat: tasks come in the order of their array, those that have not started last.
std::int64_t id_key(const SheetRow& job) {
    const bool in_array = job.has(C::ArrayJobId);
    const std::int64_t id = job.number(in_array ? C::ArrayJobId : C::Id);
    std::int64_t task = 0;
    if (in_array) task = job.task != kAbsent ? job.task : job.number(C::ArrayTaskId);
    if (task == kAbsent) task = kArrayTaskMax + 1;
    return (id << 24) + task;
}

void state(const SheetRow& job, std::string& out) {
    out += state_name(shown_state(job));
}
void state_short(const SheetRow& job, std::string& out) {
    out += state_letters(shown_state(job));
}

// Compat: by the letters, so that CG comes before PD before R.
std::int64_t state_key(const SheetRow& job) {
    static const auto ranks = [] {
        std::array<std::int64_t, kShownStateCount> table{};
        for (int i = 0; i < kShownStateCount; ++i) {
            for (int j = 0; j < kShownStateCount; ++j) {
                table[i] += state_letters(static_cast<ShownState>(j)) <
                            state_letters(static_cast<ShownState>(i));
            }
        }
        return table;
    }();
    return ranks[static_cast<std::size_t>(shown_state(job))];
}

void reason(const SheetRow& job, std::string& out) {
    append_reason(job, out);
}
void nodes(const SheetRow& job, std::string& out) {
    append_nodes(job, out);
}

bool shows_reason(ShownState state) {
    switch (state) {
        case ShownState::Pending:
        case ShownState::Failed:
        case ShownState::Timeout:
        case ShownState::Deadline:
        case ShownState::OutOfMemory:
        case ShownState::BootFail:
            return true;
        default:
            return false;
    }
}

void nodes_or_reason(const SheetRow& job, std::string& out) {
    if (!shows_reason(shown_state(job))) return append_nodes(job, out);
    out += '(';
    append_reason(job, out);
    out += ')';
}

void batch_host(const SheetRow& job, std::string& out) {
    std::string_view host = job.text(C::BatchHost);
    if (job.number(C::Batch) != 1) host = job.text(C::AllocNode);
    out += host.empty() ? "n/a" : host;
}

void time_used(const SheetRow& job, std::string& out) {
    append_duration(elapsed_seconds(job), out);
}
std::int64_t time_used_key(const SheetRow& job) {
    return elapsed_seconds(job);
}

void time_limit(const SheetRow& job, std::string& out) {
    const std::int64_t limit = job.number(C::TimeLimit);
    if (limit == kAbsent) {
        out += "NOT_SET";
    } else {
        append_duration(limit, out);
    }
}

std::int64_t time_left_key(const SheetRow& job) {
    const std::int64_t limit = job.number(C::TimeLimit);
    return limit == kAbsent || limit == kUnlimited ? limit : limit - elapsed_seconds(job);
}

void time_left(const SheetRow& job, std::string& out) {
    const std::int64_t left = time_left_key(job);
    if (left == kAbsent) {
        out += "NOT_SET";
    } else {
        append_duration(left, out);
    }
}

void time_min(const SheetRow& job, std::string& out) {
    append_duration(job.has(C::TimeMin) ? job.number(C::TimeMin) : 0, out);
}

void pending_time(const SheetRow& job, std::string& out) {
    std::int64_t until = to_unix(job.looks().now);
    if (base_state(job) != JobState::Pending && job.has(C::StartTime))
        until = job.number(C::StartTime);
    const std::int64_t since = job.has(C::SubmitTime) ? job.number(C::SubmitTime) : until;
    append_number(std::max<std::int64_t>(until - since, 0), out);
}

std::int64_t memory_key(const SheetRow& job) {
    if (job.has(C::MemPerGpu)) return job.number(C::MemPerGpu);
    return job.has(C::MemPerNode) ? job.number(C::MemPerNode) : job.number(C::MemPerCpu);
}

void memory(const SheetRow& job, std::string& out) {
    append_memory(memory_key(job), job.looks(), out);
}

void disk(const SheetRow& job, std::string& out) {
    append_memory(job.number(C::MinTmpDisk), job.looks(), out);
}

// Compat: what was once a share of 2^32 is still shown as one.
void priority_share(const SheetRow& job, std::string& out) {
    const double most = 4294967296.0;
    fmt::format_to(std::back_inserter(out), "{:.14f}",
                   static_cast<double>(std::max<std::int64_t>(job.number(C::Priority), 0)) / most);
}

void over_subscribe(const SheetRow& job, std::string& out) {
    out += over_subscribe_word(job);
}

// A number, or what stands for "not asked for".
template <C Column, Word Absent>
void number_or(const SheetRow& job, std::string& out) {
    if (job.has(Column)) return append_number(job.number(Column), out);
    out += text_of_word(Absent);
}

void sockets_cores_threads(const SheetRow& job, std::string& out) {
    number_or<C::SocketsPerNode, Word::Star>(job, out);
    out += ':';
    number_or<C::CoresPerSocket, Word::Star>(job, out);
    out += ':';
    number_or<C::ThreadsPerCore, Word::Star>(job, out);
}

void switches_wait(const SheetRow& job, std::string& out) {
    append_duration(job.has(C::SwitchesMax) ? job.number(C::SwitchesWait) : 0, out);
}

void exclusive(const SheetRow& job, std::string& out) {
    out += exclusive_word(job);
}
void group_name(const SheetRow& job, std::string& out) {
    out += job.sheet->group_name(job.number(C::GroupId));
}
void cluster(const SheetRow& job, std::string& out) {
    out += job.looks().cluster;
}

void core_spec(const SheetRow& job, std::string& out) {
    if (job.has(C::ThreadSpec)) {
        append_number(job.number(C::ThreadSpec), out);
        out += " Threads";
    } else {
        number_or<C::CoreSpec, Word::NotAvailable>(job, out);
    }
}

void nodes_max(const SheetRow& job, std::string& out) {
    append_number(job.number(job.has(C::NodeCountMax) ? C::NodeCountMax : C::NodeCount), out);
}

void exit_code(const SheetRow& job, std::string& out) {
    append_exit_code(job.number(C::ExitCode), out);
}
void derived_exit_code(const SheetRow& job, std::string& out) {
    append_exit_code(job.number(C::DerivedExitCode), out);
}

void tres_alloc(const SheetRow& job, std::string& out) {
    std::string_view tres = job.text(C::AllocTres);
    if (tres.empty()) tres = job.text(C::ReqTres);
    out += tres.empty() ? "N/A" : tres;
}

template <auto Column>
void file_name(const SheetRow& job, std::string& out) {
    std::string_view pattern = job.text(Column);
    if (pattern.empty()) {
        out += "(null)";
    } else if (job.looks().expand_patterns) {
        out += expanded_path(job, pattern);
    } else {
        out += pattern;
    }
}

constexpr Needs with(Needs base, C column) {
    base.ids[base.count++] = static_cast<ColumnId>(column);
    return base;
}

constexpr std::uint8_t kWhole = kWholeValue;
constexpr Needs kNodesNeeds = needs(C::State, C::CompletingNodes, C::NodeList);
constexpr Needs kReasonNeeds = needs(C::Reason, C::ReasonDetail);
constexpr Needs kNone{};

// clang-format off
constexpr JobField kJobFields[] = {
    // -o  -O                   header                  needs                            value                                 sort key
    {'a', "Account",            "ACCOUNT",              needs(C::Account),               text_cell<C::Account>},
    {'A', "JobID",              "JOBID",                needs(C::Id),                    number_cell<C::Id>},
    {'b', "tres-per-node",      "TRES_PER_NODE",        needs(C::TresPerNode),           text_cell<C::TresPerNode, M::NotAvailable>},
    {'B', "BatchHost",          "EXEC_HOST",            needs(C::BatchHost, C::Batch, C::AllocNode), batch_host,               nullptr, kPlain, true},
    {'c', "MinCpus",            "MIN_CPUS",             needs(C::MinCpusNode),           number_cell<C::MinCpusNode, 1>,       number_key<C::MinCpusNode>, kPlain, true},
    {'C', "NumCPUs",            "CPUS",                 needs(C::CpuCount),              number_cell<C::CpuCount>,             number_key<C::CpuCount>, kPlain, true},
    {'d', "MinTmpDisk",         "MIN_TMP_DISK",         needs(C::MinTmpDisk),            disk,                                 number_key<C::MinTmpDisk>, kPlain, true},
    {'D', "NumNodes",           "NODES",                needs(C::NodeCount),             number_cell<C::NodeCount>,            number_key<C::NodeCount>, kPlain, true},
    {'e', "EndTime",            "END_TIME",             needs(C::EndTime),               moment_cell<C::EndTime>,              number_key<C::EndTime>, kPlain, true},
    {'E', "Dependency",         "DEPENDENCY",           needs(C::Dependency),            text_cell<C::Dependency>},
    {'f', "Feature",            "FEATURES",             needs(C::Features),              text_cell<C::Features>,               nullptr, kPlain, true},
    {'F', "ArrayJobID",         "ARRAY_JOB_ID",         needs(C::Id, C::ArrayJobId),     array_job_id},
    {'g', "GroupName",          "GROUP",                needs(C::GroupId),               group_name,                           nullptr, kPlain, true},
    {'G', "GroupID",            "GROUP",                needs(C::GroupId),               number_cell<C::GroupId>,              number_key<C::GroupId>, kPlain, true},
    {'h', "OverSubscribe",      "OVER_SUBSCRIBE",       needs(C::OverSubscribe),         over_subscribe,                       nullptr, kPlain, true},
    {'H', "Sockets",            "SOCKETS_PER_NODE",     needs(C::SocketsPerNode),        number_or<C::SocketsPerNode, Word::Star>,                nullptr, kPlain, true},
    {'i', "JobArrayID",         "JOBID",                kJobIdNeeds,                     job_id,                               id_key, kPlain, true},
    {'I', "Cores",              "CORES_PER_SOCKET",     needs(C::CoresPerSocket),        number_or<C::CoresPerSocket, Word::Star>,                nullptr, kPlain, true},
    {'j', "Name",               "NAME",                 needs(C::Name),                  text_cell<C::Name>,                   nullptr, kPlain, true},
    {'J', "Threads",            "THREADS_PER_CORE",     needs(C::ThreadsPerCore),        number_or<C::ThreadsPerCore, Word::Star>,                nullptr, kPlain, true},
    {'k', "Comment",            "COMMENT",              needs(C::Comment),               text_cell<C::Comment>},
    {'K', "ArrayTaskID",        "ARRAY_TASK_ID",        kJobIdNeeds,                     array_task_id},
    {'l', "TimeLimit",          "TIME_LIMIT",           needs(C::TimeLimit),             time_limit,                           number_key<C::TimeLimit>, kWhole, true},
    {'L', "TimeLeft",           "TIME_LEFT",            with(kElapsedNeeds, C::TimeLimit), time_left,                          time_left_key, kWhole, true},
    {'m', "MinMemory",          "MIN_MEMORY",           needs(C::MemPerNode, C::MemPerCpu, C::MemPerGpu), memory,                            memory_key, kPlain, true},
    {'M', "TimeUsed",           "TIME",                 kElapsedNeeds,                   time_used,                            time_used_key, kWhole, true},
    {'n', "ReqNodes",           "REQ_NODES",            needs(C::ReqNodes),              text_cell<C::ReqNodes, M::Blank>,     nullptr, kWhole, true},
    {'N', "NodeList",           "NODELIST",             kNodesNeeds,                     nodes,                                nullptr, kWhole | kWholeHeader, true},
    {'o', "Command",            "COMMAND",              needs(C::Command),               text_cell<C::Command>},
    {'O', "Contiguous",         "CONTIGUOUS",           needs(C::Contiguous),            number_cell<C::Contiguous>,                nullptr, kPlain, true},
    {'p', "Priority",           "PRIORITY",             needs(C::Priority),              priority_share,                       number_key<C::Priority>, kPlain, true},
    {'P', "Partition",          "PARTITION",            needs(C::Partition),             text_cell<C::Partition>,              nullptr, kPlain, true},
    {'q', "QOS",                "QOS",                  needs(C::Qos),                   text_cell<C::Qos>},
    {'Q', "PriorityLong",       "PRIORITY",             needs(C::Priority),              number_cell<C::Priority>,             number_key<C::Priority>, kPlain, true},
    {'r', "Reason",             "REASON",               kReasonNeeds,                    reason},
    {'R', "ReasonList",         "NODELIST(REASON)",     needs(C::State, C::Reason, C::ReasonDetail, C::CompletingNodes, C::NodeList), nodes_or_reason, nullptr, kWholeNodes | kWholeHeader},
    {'s', "Sluid",              "SLUID",                needs(C::Sluid),                 text_cell<C::Sluid>},
    {'S', "StartTime",          "START_TIME",           needs(C::StartTime),             moment_cell<C::StartTime>,            [](const SheetRow& job) { return job.has(C::StartTime) && job.number(C::StartTime) > 0 ? job.number(C::StartTime) : kUnlimited - 1; }, kPlain, true},
    {'t', "StateCompact",       "ST",                   needs(C::State),                 state_short,                          state_key, kPlain, true},
    {'T', "State",              "STATE",                needs(C::State),                 state,                                nullptr, kPlain, true},
    {'u', "UserName",           "USER",                 needs(C::UserId),                user_cell<C::UserId>,                 nullptr, kPlain, true},
    {'U', "UserID",             "UID",                  needs(C::UserId),                number_cell<C::UserId>,               number_key<C::UserId>, kPlain, true},
    {'v', "Reservation",        "RESERVATION",          needs(C::Reservation),           text_cell<C::Reservation>,            nullptr, kPlain, true},
    {'V', "SubmitTime",         "SUBMIT_TIME",          needs(C::SubmitTime),            moment_cell<C::SubmitTime>,           number_key<C::SubmitTime>, kPlain, true},
    {'w', "WCKey",              "WCKEY",                needs(C::Wckey),                 text_cell<C::Wckey>},
    {'W', "Licenses",           "LICENSES",             needs(C::Licenses),              text_cell<C::Licenses>},
    {'x', "ExcNodes",           "EXC_NODES",            needs(C::ExcNodes),              text_cell<C::ExcNodes, M::Blank>,     nullptr, kWhole},
    {'X', "CoreSpec",           "CORE_SPEC",            needs(C::CoreSpec, C::ThreadSpec), core_spec},
    {'y', "Nice",               "NICE",                 needs(C::Nice),                  number_cell<C::Nice>},
    {'Y', "SchedNodes",         "SCHEDNODES",           needs(C::SchedNodes),            text_cell<C::SchedNodes>,             nullptr, kWhole | kWholeHeader},
    {'z', "SCT",                "S:C:T",                needs(C::SocketsPerNode, C::CoresPerSocket, C::ThreadsPerCore), sockets_cores_threads,          nullptr, kPlain, true},
    {'Z', "WorkDir",            "WORK_DIR",             needs(C::WorkDir),               text_cell<C::WorkDir>},
    {0,   "AccrueTime",         "ACCRUE_TIME",          needs(C::EligibleTime),          moment_cell<C::EligibleTime>},
    {0,   "admin_comment",      "ADMIN_COMMENT",        needs(C::AdminComment),          text_cell<C::AdminComment>},
    {0,   "AllocNodes",         "ALLOC_NODES",          needs(C::AllocNode),             text_cell<C::AllocNode>},
    {0,   "AllocSID",           "ALLOC_SID",            needs(C::AllocSid),              number_cell<C::AllocSid>},
    {0,   "AssocID",            "ASSOC_ID",             kNone,                           word_cell<Word::Zero>},
    {0,   "BatchFlag",          "BATCH_FLAG",           needs(C::Batch),                 number_cell<C::Batch>},
    {0,   "BoardsPerNode",      "BOARDS_PER_NODE",      kNone,                           word_cell<Word::Zero>},
    {0,   "BurstBuffer",        "BURST_BUFFER",         kNone,                           word_cell<Word::Null>},
    {0,   "BurstBufferState",   "BURST_BUFFER_STATE",   kNone,                           word_cell<Word::Null>},
    {0,   "Cluster",            "CLUSTER",              kNone,                           cluster},
    {0,   "ClusterFeature",     "CLUSTER_FEATURES",     kNone,                           word_cell<Word::Null>},
    {0,   "Container",          "CONTAINER",            kNone,                           word_cell<Word::Null>},
    {0,   "ContainerID",        "CONTAINER_ID",         kNone,                           word_cell<Word::Null>},
    {0,   "ContainerType",      "CONTAINER_TYPE",       kNone,                           word_cell<Word::Null>},
    {0,   "cpus-per-task",      "CPUS_PER_TASK",        needs(C::CpusPerTask),           number_cell<C::CpusPerTask, 1>},
    {0,   "cpus-per-tres",      "CPUS_PER_TRES",        needs(C::CpusPerTres),           text_cell<C::CpusPerTres, M::NotAvailable>},
    {0,   "CronJob",            "CRON_JOB",             kNone,                           word_cell<Word::No>},
    {0,   "Deadline",           "DEADLINE",             needs(C::Deadline),              moment_cell<C::Deadline>},
    {0,   "DelayBoot",          "DELAY_BOOT",           kNone,                           word_cell<Word::ZeroTime>},
    {0,   "DerivedEC",          "DERIVED_EC",           needs(C::DerivedExitCode),       derived_exit_code},
    {0,   "EligibleTime",       "ELIGIBLE_TIME",        needs(C::EligibleTime),          moment_cell<C::EligibleTime>},
    {0,   "Exclusive",          "EXCLUSIVE",            needs(C::Exclusive),             exclusive},
    {0,   "exit_code",          "EXIT_CODE",            needs(C::ExitCode),              exit_code},
    {0,   "Gres",               "TRES_PER_NODE",        needs(C::TresPerNode),           text_cell<C::TresPerNode, M::NotAvailable>},
    {0,   "HetJobID",           "HET_JOB_ID",           kNone,                           word_cell<Word::NotAvailable>},
    {0,   "HetJobIDSet",        "HET_JOB_ID_SET",       kNone,                           word_cell<Word::NotAvailable>},
    {0,   "HetJobOffset",       "HET_JOB_OFFSET",       kNone,                           word_cell<Word::NotAvailable>},
    {0,   "LastSchedEval",      "LAST_SCHED_EVAL",      needs(C::LastSchedEval),         moment_cell<C::LastSchedEval>},
    {0,   "LicensesAlloc",      "LICENSES_ALLOC",       needs(C::LicensesAlloc),         text_cell<C::LicensesAlloc>},
    {0,   "MaxCPUs",            "MAX_CPUS",             needs(C::CpuCount),              number_cell<C::CpuCount>},
    {0,   "MaxNodes",           "MAX_NODES",            needs(C::NodeCountMax, C::NodeCount), nodes_max},
    {0,   "MCSLabel",           "MCSLABEL",             kNone,                           word_cell<Word::Null>},
    {0,   "mem-per-tres",       "MEM_PER_TRES",         needs(C::MemPerTres),            text_cell<C::MemPerTres, M::NotAvailable>},
    {0,   "MinTime",            "TIME_MIN",             needs(C::TimeMin),               time_min},
    {0,   "Network",            "NETWORK",              kNone,                           word_cell<Word::Null>},
    {0,   "NTPerBoard",         "NTASKS_PER_BOARD",     kNone,                           word_cell<Word::Zero>},
    {0,   "NTPerCore",          "NTASKS_PER_CORE",      needs(C::NtasksPerCore),         number_or<C::NtasksPerCore, Word::NotAvailable>},
    {0,   "NTPerNode",          "NTASKS_PER_NODE",      needs(C::NtasksPerNode),         number_cell<C::NtasksPerNode>},
    {0,   "NTPerSocket",        "NTASKS_PER_SOCKET",    needs(C::NtasksPerSocket),       number_or<C::NtasksPerSocket, Word::NotAvailable>},
    {0,   "NumTasks",           "TASKS",                needs(C::TaskCount),             number_cell<C::TaskCount, 1>},
    {0,   "Origin",             "ORIGIN",               kNone,                           word_cell<Word::Na>},
    {0,   "OriginRaw",          "ORIGIN_RAW",           kNone,                           word_cell<Word::Na>},
    {0,   "PendingTime",        "PENDING_TIME",         needs(C::BaseState, C::StartTime, C::SubmitTime), pending_time},
    {0,   "PreemptTime",        "PREEMPT_TIME",         kNone,                           word_cell<Word::NotAvailable>},
    {0,   "Prefer",             "PREFER",               needs(C::Prefer),                text_cell<C::Prefer>},
    {0,   "Profile",            "PROFILE",              kNone,                           word_cell<Word::NotSet>},
    {0,   "Reboot",             "REBOOT",               kNone,                           word_cell<Word::Zero>},
    {0,   "ReqSwitch",          "REQ_SWITCH",           needs(C::SwitchesMax),           number_cell<C::SwitchesMax>},
    {0,   "Requeue",            "REQUEUE",              needs(C::Requeue),               number_cell<C::Requeue>},
    {0,   "ResizeTime",         "RESIZE_TIME",          kNone,                           word_cell<Word::NotAvailable>},
    {0,   "RestartCnt",         "RESTART_COUNT",        needs(C::Restarts),              number_cell<C::Restarts>},
    {0,   "SegmentSize",        "SEGMENT_SIZE",         kNone,                           word_cell<Word::NotAvailable>},
    {0,   "SiblingsActive",     "ACTIVE_SIBLINGS",      kNone,                           word_cell<Word::Na>},
    {0,   "SiblingsActiveRaw",  "ACTIVE_SIBLINGS_RAW",  kNone,                           word_cell<Word::Na>},
    {0,   "SiblingsViable",     "VIABLE_SIBLINGS",      kNone,                           word_cell<Word::Na>},
    {0,   "SiblingsViableRaw",  "VIALBLE_SIBLINGS_RAW", kNone,                           word_cell<Word::Na>},
    {0,   "SPerBoard",          "SOCKETS_PER_BOARD",    kNone,                           word_cell<Word::Zero>},
    {0,   "STDERR",             "STDERR",               needs(C::StdErr),                 file_name<C::StdErr>},
    {0,   "STDIN",              "STDIN",                needs(C::StdIn),                 file_name<C::StdIn>},
    {0,   "STDOUT",             "STDOUT",               needs(C::StdOut),                file_name<C::StdOut>},
    {0,   "system_comment",     "SYSTEM_COMMENT",       kNone,                           word_cell<Word::Null>},
    {0,   "tres-alloc",         "TRES_ALLOC",           needs(C::AllocTres, C::ReqTres), tres_alloc},
    {0,   "tres-bind",          "TRES_BIND",            needs(C::TresBind),              text_cell<C::TresBind, M::NotAvailable>},
    {0,   "tres-freq",          "TRES_FREQ",            needs(C::TresFreq),              text_cell<C::TresFreq, M::NotAvailable>},
    {0,   "tres-per-job",       "TRES_PER_JOB",         needs(C::TresPerJob),            text_cell<C::TresPerJob, M::NotAvailable>},
    {0,   "tres-per-socket",    "TRES_PER_SOCKET",      needs(C::TresPerSocket),         text_cell<C::TresPerSocket, M::NotAvailable>},
    {0,   "tres-per-task",      "TRES_PER_TASK",        needs(C::TresPerTask),           text_cell<C::TresPerTask, M::NotAvailable>},
    {0,   "Wait4Switch",        "WAIT4SWITCH",          needs(C::SwitchesMax, C::SwitchesWait), switches_wait},
};
// clang-format on

}  // namespace

std::span<const JobField> job_fields() {
    return kJobFields;
}

}  // namespace sluice

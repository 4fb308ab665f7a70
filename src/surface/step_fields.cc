// surface/step_fields.cc
//
// The fields of squeue --steps: -o letters, -O names, headings, --sort.
#include <algorithm>

#include "model/job.h"
#include "surface/cells.h"
#include "surface/steps.h"

namespace sluice {

namespace {

using C = StepColumn;
using M = Missing;

void step_id(const SheetRow& step, std::string& out) {
    append_step_id(step, out);
}

// Compat: by job, then numbered steps before the batch script's.
std::int64_t step_id_key(const SheetRow& step) {
    return (step.number(C::JobId) << 32) + step.number(C::StepId);
}

void array_job_id(const SheetRow& step, std::string& out) {
    append_number(step.has(C::ArrayJobId) ? step.number(C::ArrayJobId) : 0, out);
}

void array_task_id(const SheetRow& step, std::string& out) {
    if (step.has(C::ArrayTaskId)) {
        append_number(step.number(C::ArrayTaskId), out);
    } else {
        out += "N/A";
    }
}

std::int64_t time_used_key(const SheetRow& step) {
    return std::max<std::int64_t>(to_unix(step.looks().now) - step.number(C::StartTime), 0);
}
void time_used(const SheetRow& step, std::string& out) {
    append_duration(time_used_key(step), out);
}

void time_limit(const SheetRow& step, std::string& out) {
    append_duration(step.has(C::TimeLimit) ? step.number(C::TimeLimit) : kUnlimited, out);
}

void state(const SheetRow& step, std::string& out) {
    out += step_state_name(step);
}
void cluster(const SheetRow& step, std::string& out) {
    out += step.looks().cluster;
}

constexpr Needs kNone{};

// clang-format off
constexpr StepField kStepFields[] = {
    // -o  -O                header             needs                    value                              sort key
    {'A', "NumTasks",        "TASKS",           needs(C::TaskCount),     number_cell<C::TaskCount>,         number_key<C::TaskCount>, kPlain, true},
    {'b', "tres-per-node",   "TRES_PER_NODE",   needs(C::TresPerNode),   text_cell<C::TresPerNode>},
    {'i', "StepID",          "STEPID",          kStepIdNeeds,            step_id,                           step_id_key, kPlain, true},
    {'j', "StepName",        "NAME",            needs(C::Name),          text_cell<C::Name>,                nullptr, kPlain, true},
    {'l', "TimeLimit",       "TIME_LIMIT",      needs(C::TimeLimit),     time_limit,                        number_key<C::TimeLimit>, kWholeValue, true},
    {'M', "TimeUsed",        "TIME",            needs(C::StartTime),     time_used,                         time_used_key, kWholeValue, true},
    {'N', "Nodes",           "NODELIST",        needs(C::NodeList),      text_cell<C::NodeList, M::Blank>,  nullptr, kWholeValue | kWholeHeader, true},
    {'P', "Partition",       "PARTITION",       needs(C::Partition),     text_cell<C::Partition>,           nullptr, kPlain, true},
    {'S', "StartTime",       "START_TIME",      needs(C::StartTime),     moment_cell<C::StartTime>,         number_key<C::StartTime>, kPlain, true},
    {'u', "UserName",        "USER",            needs(C::UserId),        user_cell<C::UserId>,              nullptr, kPlain, true},
    {'U', "UserID",          "UID",             needs(C::UserId),        number_cell<C::UserId>,            number_key<C::UserId>, kPlain, true},
    {0,   "ArrayJobID",      "ARRAY_JOB_ID",    needs(C::ArrayJobId),    array_job_id},
    {0,   "ArrayTaskID",     "ARRAY_TASK_ID",   needs(C::ArrayTaskId),   array_task_id},
    {0,   "Cluster",         "CLUSTER",         kNone,                   cluster},
    {0,   "Container",       "CONTAINER",       kNone,                   word_cell<Word::Null>},
    {0,   "ContainerID",     "CONTAINER_ID",    kNone,                   word_cell<Word::Null>},
    {0,   "CPUFreq",         "CPU_FREQ",        kNone,                   word_cell<Word::NotAvailable>},
    {0,   "cpus-per-tres",   "CPUS_PER_TRES",   kNone,                   word_cell<Word::Null>},
    {0,   "JobID",           "JOB_ID",          needs(C::JobId),         number_cell<C::JobId>},
    {0,   "mem-per-tres",    "MEM_PER_TRES",    kNone,                   word_cell<Word::Null>},
    {0,   "Network",         "NETWORK",         kNone,                   word_cell<Word::Null>},
    {0,   "NumCPUs",         "NUM_CPUS",        needs(C::CpuCount),      number_cell<C::CpuCount>},
    {0,   "StepState",       "STATE",           needs(C::State),         state},
    {0,   "tres-bind",       "TRES_BIND",       needs(C::TresBind),      text_cell<C::TresBind>},
    {0,   "tres-freq",       "TRES_FREQ",       kNone,                   word_cell<Word::Null>},
    {0,   "tres-per-job",    "TRES_PER_STEP",   kNone,                   word_cell<Word::Null>},
    {0,   "tres-per-socket", "TRES_PER_SOCKET", kNone,                   word_cell<Word::Null>},
    {0,   "tres-per-step",   "TRES_PER_STEP",   kNone,                   word_cell<Word::Null>},
    {0,   "tres-per-task",   "TRES_PER_TASK",   kNone,                   word_cell<Word::Null>},
};
// clang-format on

constexpr std::string_view kStepStates[] = {"RUNNING",   "COMPLETED", "FAILED",
                                            "CANCELLED", "TIMEOUT",   "NODE_FAIL"};

}  // namespace

std::span<const StepField> step_fields() {
    return kStepFields;
}

void append_step_id(const SheetRow& step, std::string& out) {
    if (step.has(C::ArrayJobId) && step.has(C::ArrayTaskId)) {
        append_number(step.number(C::ArrayJobId), out);
        out += '_';
        append_number(step.number(C::ArrayTaskId), out);
    } else {
        append_number(step.number(C::JobId), out);
    }
    out += '.';
    out += print_step(StepId{static_cast<std::uint32_t>(step.number(C::StepId))});
}

std::string_view step_state_name(const SheetRow& step) {
    std::int64_t state = step.number(C::State);
    return state >= 0 && state < std::ssize(kStepStates) ? kStepStates[state] : kStepStates[0];
}

}  // namespace sluice

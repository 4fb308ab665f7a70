// surface/step_table.cc
//
// The properties of steps: fields of squeue --steps, keys of scontrol show step, JSON.
#include <algorithm>

#include "model/distribution.h"
#include "model/job.h"
#include "surface/job_cells.h"
#include "surface/properties.h"
#include "surface/records.h"
#include "surface/steps.h"

namespace sluice {

namespace {

using C = StepColumn;

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

void distribution(const SheetRow& step, std::string& out) {
    const std::string_view text = step.text(C::Distribution);
    if (!text.empty()) out += print_distribution(text);
}

void submit_process(const SheetRow& step, std::string& out) {
    text_cell<C::SubmitHost>(step, out);
    out += ":0";
}

void write_exit_code(const SheetRow& step, Json& json, std::string_view key) {
    job_cells::write_exit_code(step.number(C::ExitCode), json, key);
}

void write_state(const SheetRow& step, Json& json, std::string_view key) {
    json.texts(key, {std::string(step_state_name(step))});
}

// clang-format off
constexpr Property<SheetRow> kProperties[] = {
    {moment<C::StartTime>, list('S', "StartTime", "START_TIME").sorted(), record("StartTime"), json("time/start")},
    {number<C::TimeLimit>,
     list('l', "TimeLimit", "TIME_LIMIT", time_limit).with(kWholeValue).sorted(number_key<C::TimeLimit>),
     record("TimeLimit", long_duration_cell<C::TimeLimit, "UNLIMITED">),
     json("time/limit", json_minutes<C::TimeLimit>)},
    {made_of(kStepIdNeeds), list('i', "StepID", "STEPID", append_step_id).sorted(step_id_key),
     record("StepId", append_step_id), json("id", json_text_of<append_step_id>)},
    {text<C::Name>,              list('j', "StepName", "NAME").sorted(), record("Name"), json("name")},
    {made_of(C::State),          list("StepState", "STATE", state), record("State", state), json("state", write_state)},
    {text<C::Partition>,         list('P', "Partition", "PARTITION").sorted(), record("Partition"), json("partition")},
    {number<C::NodeCount>,       record("Nodes"), json("nodes/count")},
    {text<C::NodeList, "">, list('N', "Nodes", "NODELIST").with(kWholeValue | kWholeHeader).sorted(),
     record("NodeList"), json("nodes/list")},
    {number<C::TaskCount>,       list('A', "NumTasks", "TASKS").sorted(), record("Tasks"), json("number_tasks")},
    {number<C::CpuCount>,        list("NumCPUs", "NUM_CPUS"), record("CPUs"), json("number_cpus")},
    {text<C::Tres>,              record("TRES"), json("tres")},
    {made_of(C::UserId), list('u', "UserName", "USER", user_cell<C::UserId>).sorted(),
     json("user", json_text_of<user_cell<C::UserId>>)},
    {made_of(C::ExitCode),       json("exit_code", write_exit_code)},
    // In no JSON.
    {number<C::UserId>,          list('U', "UserID", "UID").sorted(), record("UserId")},
    {made_of(C::StartTime),      list('M', "TimeUsed", "TIME", time_used).with(kWholeValue).sorted(time_used_key)},
    {text<C::TresPerNode>,       list('b', "tres-per-node", "TRES_PER_NODE"), record("TresPerNode", kIfSet)},
    {text<C::TresBind>,          list("tres-bind", "TRES_BIND"), record("TresBind", kIfSet)},
    {made_of(C::Distribution),   record("Dist", distribution, kIfSet), json("task/distribution", json_text_of<distribution>)},
    {made_of(C::SubmitHost),     record("SrunHost:Pid", submit_process)},
    {word<"(null)">,             record("ResvPorts")},
    {word<"N/A">,                list("CPUFreq", "CPU_FREQ"), record("CPUFreqReq", word_cell<"Default">)},
    {made_of(C::ArrayJobId),     list("ArrayJobID", "ARRAY_JOB_ID", array_job_id)},
    {made_of(C::ArrayTaskId),    list("ArrayTaskID", "ARRAY_TASK_ID", array_task_id)},
    {word<"">,                   list("Cluster", "CLUSTER", cluster)},
    {number<C::JobId>,           list("JobID", "JOB_ID")},
    {word<"(null)">,             list("Network", "NETWORK"), record("Network")},
    {text<C::Container>,         list("Container", "CONTAINER"), record("Container", kIfSet)},
    {word<"(null)">,             list("ContainerID", "CONTAINER_ID")},
    {word<"(null)">,             list("cpus-per-tres", "CPUS_PER_TRES")},
    {word<"(null)">,             list("mem-per-tres", "MEM_PER_TRES")},
    {word<"(null)">,             list("tres-freq", "TRES_FREQ")},
    {word<"(null)">,             list("tres-per-job", "TRES_PER_STEP")},
    {word<"(null)">,             list("tres-per-socket", "TRES_PER_SOCKET")},
    {word<"(null)">,             list("tres-per-step", "TRES_PER_STEP")},
    {word<"(null)">,             list("tres-per-task", "TRES_PER_TASK")},
};
// clang-format on

constexpr std::string_view kRecord[] = {
    "StepId UserId StartTime TimeLimit",
    "State Partition NodeList",
    "Nodes CPUs Tasks Name Network",
    "Container",
    "TRES",
    "ResvPorts",
    "CPUFreqReq Dist",
    "SrunHost:Pid",
    "TresBind",
    "TresPerNode",
};

constexpr std::string_view kStepStates[] = {"RUNNING", "COMPLETED", "FAILED",       "CANCELLED",
                                            "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"};

}  // namespace

std::span<const Property<SheetRow>> step_properties() {
    return kProperties;
}

std::span<const StepField> step_fields() {
    static const std::vector<StepField> fields = fields_of<SheetRow>({kProperties});
    return fields;
}

void append_step_record(const SheetRow& step, const RecordStyle& style, std::string& out) {
    static const RecordLayout layout(record_keys<SheetRow>(kProperties), kRecord);
    layout.append(step, style, out);
}

std::string steps_json(const Sheet& steps, const JsonMeta& meta) {
    return json_document("steps", json_keys<SheetRow>(kProperties), steps, meta);
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

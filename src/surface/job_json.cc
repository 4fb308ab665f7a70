#include "surface/job_json.h"

#include <algorithm>

#include "base/text.h"
#include "model/columns.h"
#include "model/job_id.h"
#include "model/signals.h"
#include "surface/jobs.h"
#include "surface/record.h"
#include "surface/steps.h"

namespace sluice {

namespace {

using C = JobColumn;
using Key = std::string_view;

// The regular values. Missing facts keep their key, with the value Slurm gives an unset one.
template <C Column>
void text(const SheetRow& job, Json& json, Key key) {
    json.text(key, job.text(Column));
}
template <C Column>
void plain(const SheetRow& job, Json& json, Key key) {
    json.number(key, job.has(Column) ? job.number(Column) : 0);
}
template <C Column>
void wrapped(const SheetRow& job, Json& json, Key key) {
    json.optional_number(key, job.number(Column));
}
template <C Column>
void flag(const SheetRow& job, Json& json, Key key) {
    json.boolean(key, job.number(Column) == 1);
}
template <C Column>
void minutes(const SheetRow& job, Json& json, Key key) {
    const std::int64_t limit = job.number(Column);
    json.optional_number(key, limit == kAbsent || limit == kUnlimited ? limit : (limit + 59) / 60);
}
template <C Column>
void file(const SheetRow& job, Json& json, Key key) {
    json.text(key, expanded_path(job, job.text(Column)));
}
template <C Column>
void comma_list(const SheetRow& job, Json& json, Key key) {
    json.open_list(key);
    for (std::string_view word : split(job.text(Column), ',')) {
        if (!word.empty()) json.element(word);
    }
    json.close();
}

void empty_text(const SheetRow&, Json& json, Key key) {
    json.text(key, "");
}
void zero(const SheetRow&, Json& json, Key key) {
    json.number(key, 0);
}
void unset(const SheetRow&, Json& json, Key key) {
    json.optional_number(key, kAbsent);
}
void no(const SheetRow&, Json& json, Key key) {
    json.boolean(key, false);
}
// Compat: what is printed where there is none.
void thread_spec(const SheetRow& job, Json& json, Key key) {
    constexpr std::int64_t kNone = 32766;
    json.number(key, job.has(C::ThreadSpec) ? job.number(C::ThreadSpec) : kNone);
}
void none(const SheetRow&, Json& json, Key key) {
    json.texts(key, {});
}

template <bool (*Fill)(const SheetRow&, std::string&)>
void filled(const SheetRow& job, Json& json, Key key) {
    std::string value;
    Fill(job, value);
    json.text(key, value);
}
bool array_text(const SheetRow& job, std::string& out) {
    if (is_array_record(job)) append_array_tasks(job, out);
    return true;
}
bool node_text(const SheetRow& job, std::string& out) {
    append_nodes(job, out);
    return true;
}
bool user_text(const SheetRow& job, std::string& out) {
    out = job.sheet->user_name(job.number(C::UserId));
    return true;
}
bool group_text(const SheetRow& job, std::string& out) {
    out = job.sheet->group_name(job.number(C::GroupId));
    return true;
}
bool cluster_text(const SheetRow& job, std::string& out) {
    out = job.looks().cluster;
    return true;
}

void states(const SheetRow& job, Json& json, Key key) {
    json.open_list(key);
    json.element(state_name(base_state(job)));
    if (shown_state(job) != static_cast<ShownState>(base_state(job))) {
        json.element(state_name(shown_state(job)));
    }
    json.close();
}

void state_reason(const SheetRow& job, Json& json, Key key) {
    std::int64_t reason = job.number(C::Reason);
    if (reason < 0 || reason >= kReasonCount) reason = 0;
    json.text(key, reason_name(static_cast<Reason>(reason)));
}

template <C Column>
void exit_code(const SheetRow& job, Json& json, Key key) {
    const std::int64_t value = std::max<std::int64_t>(job.number(Column), 0);
    const std::int64_t code = value >> 8, signal = value & 255;
    json.open_object(key);
    json.texts("status", {signal ? "SIGNALED" : code ? "ERROR" : "SUCCESS"});
    json.optional_number("return_code", code);
    json.open_object("signal");
    json.optional_number("id", signal ? signal : kAbsent);
    json.text("name", signal ? signal_name(static_cast<int>(signal)) : "");
    json.close();
    json.close();
}

void shared(const SheetRow& job, Json& json, Key key) {
    std::vector<std::string> words;
    if (job.number(C::OverSubscribe) == 1) words.emplace_back("oversubscribe");
    if (exclusive_word(job) == "USER") words.emplace_back("user");
    if (words.empty()) words.emplace_back("none");
    json.texts(key, words);
}

void flags(const SheetRow& job, Json& json, Key key) {
    std::vector<std::string> words;
    if (job.number(C::GresEnforceBind) == 1) words.emplace_back("GRES_BINDING_ENFORCED");
    if (job.number(C::SpreadJob) == 1) words.emplace_back("SPREAD_JOB");
    if (job.number(C::UseMinNodes) == 1) words.emplace_back("PREFER_MINIMUM_NODE_COUNT");
    json.texts(key, words);
}

void hold(const SheetRow& job, Json& json, Key key) {
    json.boolean(key, base_state(job) == JobState::Pending && job.number(C::Priority) == 0);
}

void gres_detail(const SheetRow& job, Json& json, Key key) {
    json.open_list(key);
    for (std::string_view line : split(job.text(C::AllocDetail), '\n')) {
        std::string_view gres = word_value(line, "GRES=");
        if (!gres.empty()) json.element(gres);
    }
    json.close();
}

// Every core of a node, held or not: CPUs are numbered through its cores, and those through its
// sockets. `layout` is "sockets:cores of each:CPUs of a core".
void sockets(Json& json, const TaskSet& held, std::string_view layout) {
    std::vector<std::uint64_t> sizes;
    for (std::string_view size : split(layout, ':')) sizes.push_back(to_number(size).value_or(0));
    sizes.resize(3);
    std::uint32_t cpu = 0;
    json.open_list("sockets");
    for (std::uint64_t socket = 0; socket < sizes[0]; ++socket) {
        json.open_object();
        json.number("index", static_cast<std::int64_t>(socket));
        json.open_list("cores");
        for (std::uint64_t core = 0; core < sizes[1]; ++core) {
            bool is_held = false;
            for (std::uint64_t i = 0; i < sizes[2]; ++i) is_held |= held.contains(cpu++);
            json.open_object();
            json.number("index", static_cast<std::int64_t>(core));
            json.texts("status", {is_held ? "ALLOCATED" : "UNALLOCATED"});
            json.close();
        }
        json.close();
        json.close();
    }
    json.close();
}

void allocated_node(Json& json, std::int64_t index, std::string_view line,
                    std::string_view layout) {
    const Result<TaskSet> ids = TaskSet::parse(word_value(line, "CPU_IDs="));
    const TaskSet held = ids ? *ids : TaskSet{};
    const auto cpus = static_cast<std::int64_t>(held.size());
    const auto memory = static_cast<std::int64_t>(to_number(word_value(line, "Mem=")).value_or(0));
    json.open_object();
    json.number("index", index);
    json.text("name", word_value(line, "Nodes="));
    json.open_object("cpus");
    json.number("count", cpus);
    json.number("used", cpus);
    json.close();
    json.open_object("memory");
    json.number("used", memory);
    json.number("allocated", memory);
    json.close();
    sockets(json, held, layout);
    json.close();
}

void job_resources(const SheetRow& job, Json& json, Key key) {
    const std::vector<std::string_view> lines = split(job.text(C::AllocDetail), '\n');
    std::vector<std::string_view> layouts = split(job.text(C::AllocLayout), '\n');
    layouts.resize(lines.size());
    if (job.text(C::NodeList).empty()) return json.null(key);
    json.open_object(key);
    json.texts("select_type", {"CPU", "CORE", "MEMORY"});
    json.open_object("nodes");
    json.number("count", job.number(C::NodeCount));
    json.texts("select_type", {exclusive_word(job) == "NODE" ? "ONE_ROW" : "AVAILABLE"});
    json.text("list", job.text(C::NodeList));
    json.boolean("whole", exclusive_word(job) == "NODE");
    json.open_list("allocation");
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        allocated_node(json, static_cast<std::int64_t>(i), lines[i], layouts[i]);
    }
    json.close();
    json.close();
    json.number("cpus", job.number(C::CpuCount));
    json.optional_number("threads_per_core", kAbsent);
    json.close();
}

void step_id(const SheetRow& job, Json& json, Key key) {
    json.open_object(key);
    json.text("sluid", job.text(C::Sluid));
    json.number("job_id", job.number(C::Id));
    json.text("step_het_component", "");
    json.text("step_id", "");
    json.close();
}

struct JsonField {
    Key key;
    void (*write)(const SheetRow& job, Json& json, Key key);
};

// clang-format off
constexpr JsonField kJobKeys[] = {
    {"account", text<C::Account>}, {"accrue_time", wrapped<C::EligibleTime>},
    {"admin_comment", text<C::AdminComment>}, {"allocating_node", text<C::AllocNode>},
    {"array_job_id", wrapped<C::ArrayJobId>}, {"array_task_id", wrapped<C::ArrayTaskId>},
    {"array_max_tasks", wrapped<C::ArrayLimit>}, {"array_task_string", filled<array_text>},
    {"association_id", zero}, {"batch_features", empty_text}, {"batch_flag", flag<C::Batch>},
    {"batch_host", text<C::BatchHost>}, {"flags", flags}, {"burst_buffer", empty_text},
    {"burst_buffer_state", empty_text}, {"cluster", filled<cluster_text>},
    {"cluster_features", empty_text}, {"command", text<C::Command>}, {"comment", text<C::Comment>},
    {"container", empty_text}, {"container_id", empty_text}, {"container_type", empty_text},
    {"contiguous", flag<C::Contiguous>}, {"core_spec", plain<C::CoreSpec>},
    {"thread_spec", thread_spec},
    {"cores_per_socket", wrapped<C::CoresPerSocket>}, {"billable_tres", unset}, {"cpus_per_task", wrapped<C::CpusPerTask>},
    {"cpu_frequency_minimum", unset}, {"cpu_frequency_maximum", unset},
    {"cpu_frequency_governor", unset}, {"cpus_per_tres", text<C::CpusPerTres>}, {"cron", empty_text},
    {"deadline", wrapped<C::Deadline>}, {"delay_boot", unset}, {"dependency", text<C::Dependency>},
    {"derived_exit_code", exit_code<C::DerivedExitCode>}, {"eligible_time", wrapped<C::EligibleTime>},
    {"end_time", wrapped<C::EndTime>}, {"excluded_nodes", text<C::ExcNodes>},
    {"exit_code", exit_code<C::ExitCode>}, {"extra", empty_text}, {"failed_node", empty_text},
    {"features", text<C::Features>}, {"federation_origin", empty_text},
    {"federation_siblings_active", empty_text}, {"federation_siblings_viable", empty_text},
    {"gres_detail", gres_detail}, {"group_id", plain<C::GroupId>}, {"group_name", filled<group_text>},
    {"het_job_id", unset}, {"het_job_id_set", empty_text}, {"het_job_offset", unset},
    {"job_id", plain<C::Id>}, {"job_resources", job_resources}, {"job_size_str", comma_list<C::NodeSizes>},
    {"job_state", states}, {"last_sched_evaluation", wrapped<C::LastSchedEval>},
    {"licenses", text<C::Licenses>}, {"licenses_allocated", text<C::LicensesAlloc>},
    {"mail_type", comma_list<C::MailType>}, {"mail_user", text<C::MailUser>},
    {"max_cpus", wrapped<C::CpuCount>}, {"max_nodes", wrapped<C::NodeCountMax>},
    {"mcs_label", empty_text}, {"memory_per_tres", text<C::MemPerTres>}, {"memory_update_delay", unset},
    {"memory_update_margin", unset}, {"name", text<C::Name>}, {"network", empty_text},
    {"nodes", filled<node_text>}, {"nice", plain<C::Nice>}, {"tasks_per_core", wrapped<C::NtasksPerCore>},
    {"tasks_per_tres", wrapped<C::NtasksPerGpu>}, {"tasks_per_node", wrapped<C::NtasksPerNode>},
    {"tasks_per_socket", wrapped<C::NtasksPerSocket>}, {"tasks_per_board", unset}, {"cpus", wrapped<C::CpuCount>},
    {"node_count", wrapped<C::NodeCount>}, {"tasks", wrapped<C::TaskCount>},
    {"partition", text<C::Partition>}, {"prefer", text<C::Prefer>},
    {"memory_per_cpu", wrapped<C::MemPerCpu>}, {"memory_per_node", wrapped<C::MemPerNode>},
    {"minimum_cpus_per_node", wrapped<C::MinCpusNode>},
    {"minimum_tmp_disk_per_node", wrapped<C::MinTmpDisk>}, {"preempt_time", unset},
    {"preemptable_time", unset}, {"pre_sus_time", unset}, {"hold", hold},
    {"priority", wrapped<C::Priority>}, {"priority_by_partition", none}, {"profile", none},
    {"qos", text<C::Qos>}, {"reboot", no}, {"required_nodes", text<C::ReqNodes>},
    {"required_switches", plain<C::SwitchesMax>}, {"requeue", flag<C::Requeue>}, {"resize_time", unset},
    {"restart_cnt", plain<C::Restarts>}, {"resv_name", text<C::Reservation>},
    {"scheduled_nodes", empty_text}, {"segment_size", zero}, {"selinux_context", empty_text},
    {"shared", shared}, {"sockets_per_board", zero}, {"sockets_per_node", wrapped<C::SocketsPerNode>},
    {"start_time", wrapped<C::StartTime>}, {"state_description", text<C::ReasonDetail>},
    {"state_reason", state_reason}, {"standard_input", text<C::StdIn>},
    {"standard_output", text<C::StdOut>}, {"standard_error", text<C::StdErr>},
    {"stdin_expanded", file<C::StdIn>}, {"stdout_expanded", file<C::StdOut>},
    {"stderr_expanded", file<C::StdErr>}, {"step_id", step_id},
    {"submit_line", text<C::SubmitLine>}, {"submit_time", wrapped<C::SubmitTime>},
    {"suspend_time", wrapped<C::SuspendTime>}, {"system_comment", empty_text}, {"time_limit", minutes<C::TimeLimit>},
    {"time_minimum", minutes<C::TimeMin>}, {"threads_per_core", wrapped<C::ThreadsPerCore>}, {"tres_bind", text<C::TresBind>},
    {"tres_freq", text<C::TresFreq>}, {"tres_per_job", text<C::TresPerJob>},
    {"tres_per_node", text<C::TresPerNode>}, {"tres_per_socket", text<C::TresPerSocket>},
    {"tres_per_task", text<C::TresPerTask>}, {"tres_req_str", text<C::ReqTres>},
    {"tres_alloc_str", text<C::AllocTres>}, {"user_id", plain<C::UserId>},
    {"user_name", filled<user_text>}, {"maximum_switch_wait_time", plain<C::SwitchesWait>}, {"wckey", text<C::Wckey>},
    {"current_working_directory", text<C::WorkDir>},
};
// clang-format on

void write_step(const SheetRow& step, Json& json) {
    using S = StepColumn;
    std::string id;
    append_step_id(step, id);
    json.open_object();
    json.open_object("time");
    json.optional_number("start", step.number(S::StartTime));
    const std::int64_t limit = step.number(S::TimeLimit);
    json.optional_number("limit", limit == kAbsent || limit == kUnlimited ? limit : limit / 60);
    json.close();
    json.text("id", id);
    json.text("name", step.text(S::Name));
    json.texts("state", {std::string(step_state_name(step))});
    json.text("partition", step.text(S::Partition));
    json.open_object("nodes");
    json.number("count", step.number(S::NodeCount));
    json.text("list", step.text(S::NodeList));
    json.close();
    json.number("number_tasks", step.number(S::TaskCount));
    json.number("number_cpus", step.number(S::CpuCount));
    json.text("tres", step.text(S::Tres));
    json.text("user", step.sheet->user_name(step.number(S::UserId)));
    json.close();
}

}  // namespace

std::string jobs_json(const Sheet& jobs, const JsonMeta& meta, bool compact) {
    Json json(compact);
    json.open_object();
    json.open_list("jobs");
    for (std::uint32_t i = 0; i < jobs.rows(); ++i) {
        const SheetRow job{&jobs, i};
        json.open_object();
        for (const JsonField& field : kJobKeys) field.write(job, json, field.key);
        json.close();
    }
    json.close();
    json.optional_number("last_backfill", kAbsent);
    json.optional_number("last_update", to_unix(jobs.looks().now));
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

std::string steps_json(const Sheet& steps, const JsonMeta& meta, bool compact) {
    Json json(compact);
    json.open_object();
    json.open_list("steps");
    for (std::uint32_t i = 0; i < steps.rows(); ++i) write_step({&steps, i}, json);
    json.close();
    json.optional_number("last_update", to_unix(steps.looks().now));
    write_json_meta(json, meta);
    json.close();
    return json.take();
}

}  // namespace sluice

// surface/accounted_json.cc
//
// Runs and their steps as sacct --json prints them.
#include <fmt/format.h>

#include <algorithm>

#include "model/hostlist.h"
#include "model/job.h"
#include "model/table.h"
#include "surface/accounted_table.h"
#include "surface/job_cells.h"

namespace sluice {

namespace {

using Line = AccountedLine;

void write_exit(const ExitStatus& exit, Json& json, std::string_view key) {
    job_cells::write_exit_code((exit.code << 8) | shown_signal(exit), json, key);
}

std::int64_t seconds_of(const std::optional<Time>& time) {
    return time && *time != Time{} ? to_unix(*time) : kAbsent;
}
// Compat: a time that is not known is zero, not unset.
void write_time(Json& json, std::string_view key, const std::optional<Time>& time) {
    const std::int64_t seconds = seconds_of(time);
    json.optional_number(key, seconds == kAbsent ? 0 : seconds);
}

void write_cpu_time(Json& json, std::string_view key, Microseconds length) {
    constexpr std::int64_t kMillion = 1'000'000;
    json.open_object(key);
    json.number("seconds", length.count() / kMillion);
    json.number("microseconds", length.count() % kMillion);
    json.close();
}

void write_limit(Json& json, TimeLimit limit) {
    json.optional_number(
        "limit", limit.unlimited() ? kUnlimited
                                   : std::chrono::duration_cast<Minutes>(limit.length()).count());
}

struct TresEntry {
    std::string name;  // "gres/gpu:a40"
    std::uint64_t count = 0;
    const std::string* node = nullptr;  // where the most or the least was used, with its task
    std::uint32_t task = 0;
};

// "gres/gpu:a40" has the type "gres" and the name "gpu:a40".
void write_tres_entry(const TresEntry& entry, const AccountedLooks& looks, Json& json) {
    const std::size_t slash = entry.name.find('/');
    auto id = looks.tres_ids.find(entry.name);
    json.open_object();
    json.text("type", std::string_view(entry.name).substr(0, slash));
    json.text("name", slash == std::string::npos ? std::string_view()
                                                 : std::string_view(entry.name).substr(slash + 1));
    json.number("id", id == looks.tres_ids.end() ? 0 : id->second);
    json.number("count", static_cast<std::int64_t>(entry.count));
    if (entry.node) {
        json.number("task", entry.task);
        json.text("node", *entry.node);
    }
    json.close();
}

void write_tres(const Tres& tres, const AccountedLooks& looks, Json& json, std::string_view key) {
    json.open_list(key);
    for (const auto& [name, count] : tres) write_tres_entry({name, count}, looks, json);
    json.close();
}

// ---- a step

struct Measured {
    const char* name;
    const TaskAmounts* amounts;
    std::uint64_t factor;  // of the unit that is shown
};

std::vector<Measured> consumed_by(const TaskUsage& usage) {
    return {{"cpu", &usage.cpu_ms, 1},
            {"mem", &usage.rss_kb, 1024},
            {"fs/disk", &usage.read_bytes, 1},
            {"vmem", &usage.vm_kb, 1024},
            {"pages", &usage.pages, 1},
            {"gres/gpumem", &usage.gpu_memory_kb, 1024},
            {"gres/gpuutil", &usage.gpu_percent, 1}};
}
std::vector<Measured> written_by(const TaskUsage& usage) {
    return {{"fs/disk", &usage.written_bytes, 1}};
}

void write_measured(const std::vector<Measured>& all, std::uint32_t tasks,
                    const AccountedLooks& looks, Json& json, std::string_view key) {
    json.open_object(key);
    json.open_list("max");
    for (const Measured& each : all) {
        write_tres_entry({each.name, each.amounts->most * each.factor, &each.amounts->most_node,
                          each.amounts->most_task},
                         looks, json);
    }
    json.close();
    json.open_list("min");
    for (const Measured& each : all) {
        write_tres_entry({each.name, each.amounts->least * each.factor, &each.amounts->least_node,
                          each.amounts->least_task},
                         looks, json);
    }
    json.close();
    json.open_list("average");
    for (const Measured& each : all) {
        const std::uint64_t count = each.amounts->total * each.factor / std::max(tasks, 1u);
        write_tres_entry({each.name, count}, looks, json);
    }
    json.close();
    json.open_list("total");
    for (const Measured& each : all) {
        write_tres_entry({each.name, each.amounts->total * each.factor}, looks, json);
    }
    json.close();
    json.close();
}

// Compat: "requested" is what was written, "consumed" what was read or used.
void write_step_tres(const Line& line, Json& json) {
    const TaskUsage* usage = line.step->usage.tasks.get();
    const std::uint32_t tasks = usage ? usage->tasks : 1;
    json.open_object("tres");
    write_measured(usage ? written_by(*usage) : std::vector<Measured>{}, tasks, *line.looks, json,
                   "requested");
    write_measured(usage ? consumed_by(*usage) : std::vector<Measured>{}, tasks, *line.looks, json,
                   "consumed");
    write_tres(line.step->tres_allocated, *line.looks, json, "allocated");
    json.close();
}

void write_used_time(const Usage& usage, Json& json) {
    write_cpu_time(json, "system", usage.cpu_system);
    write_cpu_time(json, "total", usage.cpu_system + usage.cpu_user);
    write_cpu_time(json, "user", usage.cpu_user);
}

void write_step_time(const Line& line, Json& json) {
    const ShownTimes times = times_of(line);
    json.open_object("time");
    json.number("elapsed", times.elapsed.count());
    write_time(json, "end", times.end);
    write_time(json, "start", times.start);
    json.number("suspended", times.suspended.count());
    write_used_time(line.step->usage, json);
    write_limit(json, line.step->time_limit);
    json.close();
}

void write_step_nodes(const AccountedStep& step, Json& json) {
    json.open_object("nodes");
    json.number("count", step.node_count);
    json.text("range", step.node_names);
    const Result<Hostlist> names = Hostlist::parse(step.node_names);
    json.texts("list", names ? names->names() : std::vector<std::string>{});
    json.close();
}

void write_files(const Line& line, Json& json) {
    const struct {
        std::string_view name;
        const std::string& pattern;
    } files[] = {{"stdin", line.step ? line.step->std_in : line.job().std_in},
                 {"stdout", line.step ? line.step->std_out : line.job().std_out},
                 {"stderr", line.step ? line.step->std_err : line.job().std_err}};
    for (const auto& file : files) {
        json.text(file.name, file.pattern);
        json.text(fmt::format("{}_expanded", file.name), file_name_text(line, file.pattern, true));
    }
}

void write_killer(const Line& line, const std::optional<UserId>& by, Json& json) {
    json.text("kill_request_user", by ? std::string_view(line.looks->names->user(*by)) : "");
}

void write_step_figures(const AccountedStep& step, Json& json) {
    json.open_object("statistics");
    json.open_object("CPU");
    json.number("actual_frequency", step.usage.tasks ? step.usage.tasks->cpu_khz : 0);
    json.close();
    json.open_object("energy");
    json.optional_number(
        "consumed",
        step.usage.tasks ? static_cast<std::int64_t>(step.usage.tasks->energy_joules) : kAbsent);
    json.close();
    json.close();
}

void write_step(const Line& line, Json& json) {
    const AccountedStep& step = *line.step;
    json.open_object();
    write_step_time(line, json);
    write_exit(step.exit, json, "exit_code");
    write_step_nodes(step, json);
    json.open_object("tasks");
    json.number("count", step.tasks);
    json.close();
    json.open_object("CPU");
    json.open_object("requested_frequency");
    json.optional_number("min", 0);
    json.optional_number("max", 0);
    json.close();
    json.text("governor", "0");
    json.close();
    write_killer(line, step.killed_by, json);
    json.texts("state", {std::string(state_name(shown_state(line)))});
    write_step_figures(step, json);
    json.open_object("step");
    json.text("id", raw_job_id_text(line));
    json.text("name", step.name);
    write_files(line, json);
    json.close();
    json.text("submit_line", step.submit_line);
    json.open_object("task");
    json.text("distribution", step.layout.empty() ? "Unknown" : step.layout);
    json.close();
    write_step_tres(line, json);
    json.close();
}

// ---- a job

void write_array(const AccountedJob& job, Json& json) {
    json.open_object("array");
    json.number("job_id", job.array_job ? job.array_job->value : 0);
    json.open_object("limits");
    json.open_object("max");
    json.open_object("running");
    json.number("tasks", job.array_limit);
    json.close();
    json.close();
    json.close();
    json.optional_number("task_id", job.array_task ? std::int64_t{*job.array_task} : kAbsent);
    json.text("task", job.array_tasks.empty() ? "" : job.array_tasks.to_string());
    json.close();
}

void write_job_time(const Line& line, Json& json) {
    const ShownTimes times = times_of(line);
    json.open_object("time");
    json.number("elapsed", times.elapsed.count());
    write_time(json, "eligible", line.job().eligible);
    write_time(json, "end", times.end);
    json.optional_number("planned", planned_time(line).value_or(Seconds{0}).count());
    write_time(json, "start", times.start);
    write_time(json, "submission", line.job().submit);
    json.number("suspended", times.suspended.count());
    write_used_time(usage_of(line), json);
    write_limit(json, line.job().time_limit);
    json.close();
}

void write_flags(std::uint32_t flags, Json& json) {
    std::vector<std::string> words;
    if (flags & kStartedByMain) words.emplace_back("STARTED_ON_SCHEDULE");
    if (flags & kStartedByBackfill) words.emplace_back("STARTED_ON_BACKFILL");
    if (flags & kStartReceived) words.emplace_back("START_RECEIVED");
    json.texts("flags", words);
}

void write_required(const AccountedJob& job, Json& json) {
    auto amount = [](const std::optional<Megabytes>& memory) {
        return memory ? static_cast<std::int64_t>(*memory) : kAbsent;
    };
    json.open_object("required");
    json.number("CPUs", job.cpus_requested);
    json.optional_number("memory_per_cpu", amount(job.memory_per_cpu));
    json.optional_number("memory_per_node", amount(job.memory_per_node));
    json.close();
}

void write_identity(const Line& line, Json& json) {
    const AccountedJob& job = line.job();
    json.text("account", job.account);
    json.open_object("comment");
    json.text("administrator", job.admin_comment);
    json.text("job", job.comment);
    json.text("system", job.system_comment);
    json.close();
    json.number("allocation_nodes", job.node_count);
    write_array(job, json);
    json.open_object("association");
    json.text("account", job.account);
    json.text("cluster", line.run->cluster);
    json.text("partition", "");
    json.text("user", line.looks->names->user(job.user));
    json.number("id", job.association);
    json.close();
    json.text("block", "");
    json.text("cluster", line.run->cluster);
    json.text("constraints", job.constraint);
    json.text("container", job.container);
    json.text("sluid", job.sluid ? print_sluid(job.sluid) : "");
}

void write_placement(const Line& line, Json& json) {
    const AccountedJob& job = line.job();
    json.text("exclusive", "");
    write_exit(job.exit, json, "exit_code");
    json.text("extra", job.extra);
    json.text("failed_node", job.failed_node);
    write_flags(job.flags, json);
    json.text("group", line.looks->names->group(job.group));
    json.open_object("het");
    json.number("job_id", 0);
    json.optional_number("job_offset", kAbsent);
    json.close();
    json.number("job_id", job.job.value);
    json.text("name", job.name);
    json.text("licenses", job.licenses);
    json.open_object("mcs");
    json.text("label", "");
    json.close();
    json.text("nodes", job.node_names.empty() ? "None assigned" : job.node_names);
    json.text("oversubscribe", "");
    json.text("partition", job.partition);
    const bool is_held = job.state == ShownState::Pending && job.priority == 0;
    json.boolean("hold", is_held);
    json.optional_number("priority", job.priority);
    json.text("qos", job.qos);
    json.text("qosreq", job.qos_requested);
}

void write_reservation(const Line& line, Json& json) {
    const AccountedJob& job = line.job();
    auto id = line.looks->reservation_ids.find(job.reservation);
    json.open_object("reservation");
    json.number("id", id == line.looks->reservation_ids.end() ? 0 : id->second);
    json.text("name", job.reservation);
    json.text("requested", job.reservation_requested);
    json.close();
}

void write_end_of_job(const Line& line, Json& json) {
    const AccountedJob& job = line.job();
    json.text("submit_line", job.submit_line);
    json.open_object("tres");
    write_tres(job.tres_allocated, *line.looks, json, "allocated");
    write_tres(job.tres_requested, *line.looks, json, "requested");
    json.close();
    json.text("used_gres", "");
    json.text("user", line.looks->names->user(job.user));
    json.open_object("wckey");
    json.text("wckey", job.wckey);
    json.texts("flags", {});
    json.close();
    json.text("working_directory", job.work_dir);
}

}  // namespace

void write_accounted_run(const AccountedRun& run, const AccountedLooks& looks, Json& json) {
    const Line line{.run = &run, .step = nullptr, .looks = &looks};
    const AccountedJob& job = run.job;
    json.open_object();
    write_identity(line, json);
    write_exit(job.derived_exit, json, "derived_exit_code");
    write_job_time(line, json);
    write_placement(line, json);
    write_required(job, json);
    write_killer(line, job.killed_by, json);
    json.number("restart_cnt", job.restarts);
    write_reservation(line, json);
    json.text("script", run.script);
    json.number("segment_size", 0);
    json.text("original_sluid", job.sluid && job.restarts == 0 ? print_sluid(job.sluid) : "");
    write_files(line, json);
    json.open_object("state");
    json.texts("current", {std::string(state_name(shown_state(line)))});
    json.text("reason", reason_name(job.reason));
    json.close();
    json.open_list("steps");
    for (const AccountedStep& step : run.steps) {
        write_step({.run = &run, .step = &step, .looks = &looks}, json);
    }
    json.close();
    write_end_of_job(line, json);
    json.close();
}

}  // namespace sluice

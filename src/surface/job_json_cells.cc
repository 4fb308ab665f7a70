// surface/job_json_cells.cc
//
// Values of a job's JSON that are no plain columns.
#include <algorithm>

#include "base/text.h"
#include "model/job_id.h"
#include "model/signals.h"
#include "surface/job_cells.h"
#include "surface/record.h"

namespace sluice::job_cells {

namespace {

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

}  // namespace

void write_states(const SheetRow& job, Json& json, Key key) {
    json.open_list(key);
    json.element(state_name(base_state(job)));
    if (shown_state(job) != static_cast<ShownState>(base_state(job))) {
        json.element(state_name(shown_state(job)));
    }
    json.close();
}

void write_reason(const SheetRow& job, Json& json, Key key) {
    std::int64_t reason = job.number(C::Reason);
    if (reason < 0 || reason >= kReasonCount) reason = 0;
    json.text(key, reason_name(static_cast<Reason>(reason)));
}

void write_exit_code(std::int64_t value, Json& json, Key key) {
    value = std::max<std::int64_t>(value, 0);
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

// Compat: what is printed where there is none.
void write_thread_spec(const SheetRow& job, Json& json, Key key) {
    constexpr std::int64_t kNone = 32766;
    json.number(key, job.has(C::ThreadSpec) ? job.number(C::ThreadSpec) : kNone);
}

void write_billing(const SheetRow& job, Json& json, Key key) {
    std::string_view billing;
    for (std::string_view word : split(job.text(C::AllocTres), ',')) {
        if (word.starts_with("billing=")) billing = word.substr(word.find('=') + 1);
    }
    json.open_object(key);
    json.boolean("set", !billing.empty());
    json.boolean("infinite", false);
    json.real("number", static_cast<double>(to_number(billing).value_or(0)));
    json.close();
}

void write_before_suspend(const SheetRow& job, Json& json, Key key) {
    json.optional_number(key, job.has(C::SuspendTime) ? seconds_before_suspend(job) : kAbsent);
}

void write_shared(const SheetRow& job, Json& json, Key key) {
    std::vector<std::string> words;
    if (job.number(C::OverSubscribe) == 1) words.emplace_back("oversubscribe");
    if (exclusive_word(job) == "USER") words.emplace_back("user");
    if (words.empty()) words.emplace_back("none");
    json.texts(key, words);
}

void write_flags(const SheetRow& job, Json& json, Key key) {
    std::vector<std::string> words;
    if (job.number(C::GresEnforceBind) == 1) words.emplace_back("GRES_BINDING_ENFORCED");
    if (job.number(C::SpreadJob) == 1) words.emplace_back("SPREAD_JOB");
    if (job.number(C::UseMinNodes) == 1) words.emplace_back("PREFER_MINIMUM_NODE_COUNT");
    json.texts(key, words);
}

void write_hold(const SheetRow& job, Json& json, Key key) {
    json.boolean(key, base_state(job) == JobState::Pending && job.number(C::Priority) == 0);
}

void write_gres_detail(const SheetRow& job, Json& json, Key key) {
    json.open_list(key);
    for (std::string_view line : split(job.text(C::AllocDetail), '\n')) {
        std::string_view gres = word_value(line, "GRES=");
        if (!gres.empty()) json.element(gres);
    }
    json.close();
}

void write_resources(const SheetRow& job, Json& json, Key key) {
    const std::vector<std::string_view> lines = split(job.text(C::AllocDetail), '\n');
    std::vector<std::string_view> layouts = split(job.text(C::AllocLayout), '\n');
    layouts.resize(lines.size());
    if (job.text(C::NodeList).empty()) return json.null(key);
    json.open_object(key);
    if (json.version() >= 45) {
        json.texts("select_type", {"CR_CORE_MEMORY"});
    } else {
        json.texts("select_type", {"CPU", "CORE", "MEMORY"});
    }
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

void write_step_id(const SheetRow& job, Json& json, Key key) {
    json.open_object(key);
    json.text("sluid", job.text(C::Sluid));
    json.optional_number("job_id", job.number(C::Id));
    json.optional_number("step_het_component", kAbsent);
    json.text("step_id", "");
    json.close();
}

}  // namespace sluice::job_cells

// surface/job_variables_test.cc: every SBATCH_, SALLOC_ and SLURM_ variable does what its option
// does, and gives way to the option.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "model/errors.h"
#include "surface/job_options.h"

namespace sluice {
namespace {

// Two values that differ in their effect, for each option that takes one and has a variable.
struct Samples {
    std::string_view one, two;
};
const std::map<std::string_view, Samples> kSamples = {
    {"account", {"a", "b"}},
    {"acctg-freq", {"10", "task=20"}},
    {"array", {"1-3", "4"}},
    {"chdir", {"/a", "/b"}},
    {"bcast", {"/a", "/b"}},
    {"bcast-exclude", {"/a", "/b"}},
    {"compress", {"lz4", "none"}},
    {"cpu-freq", {"low", "high"}},
    {"constraint", {"a", "b"}},
    {"container", {"/a", "/b"}},
    {"core-spec", {"1", "2"}},
    {"cpu-bind", {"none", "verbose"}},
    {"cpus-per-gpu", {"2", "3"}},
    {"cpus-per-task", {"2", "3"}},
    {"dependency", {"afterok:1", "singleton"}},
    {"distribution", {"block", "cyclic"}},
    {"epilog", {"/a", "/b"}},
    {"error", {"a", "b"}},
    {"exclusive", {"user", "exclusive"}},
    {"export", {"NONE", "NIL"}},
    {"gpu-bind", {"single:1", "single:2"}},
    {"gpu-freq", {"low", "high"}},
    {"gpus", {"1", "2"}},
    {"gpus-per-node", {"1", "2"}},
    {"gpus-per-task", {"1", "2"}},
    {"gres", {"gpu:1", "gpu:2"}},
    {"gres-flags", {"enforce-binding", "disable-binding"}},
    {"hint", {"nomultithread", "multithread"}},
    {"immediate", {"1", "2"}},
    {"input", {"a", "b"}},
    {"job-name", {"a", "b"}},
    {"jobid", {"1", "2"}},
    {"kill-command", {"INT", "KILL"}},
    {"kill-on-bad-exit", {"1", "0"}},
    {"mem", {"1", "2"}},
    {"mem-per-cpu", {"1", "2"}},
    {"mem-per-gpu", {"1", "2"}},
    {"no-kill", {"", "off"}},
    {"nodes", {"2", "3"}},
    {"ntasks", {"2", "3"}},
    {"ntasks-per-core", {"1", "2"}},
    {"ntasks-per-gpu", {"1", "2"}},
    {"ntasks-per-node", {"1", "2"}},
    {"ntasks-per-socket", {"1", "2"}},
    {"oom-kill-step", {"1", "0"}},
    {"open-mode", {"append", "truncate"}},
    {"mem-bind", {"local", "rank"}},
    {"mpi", {"pmi2", "pmix"}},
    {"output", {"a", "b"}},
    {"partition", {"a", "b"}},
    {"prolog", {"/a", "/b"}},
    {"qos", {"a", "b"}},
    {"reservation", {"a", "b"}},
    {"resv-ports", {"2", "3"}},
    {"send-libs", {"yes", "no"}},
    {"signal", {"USR1@60", "USR2@90"}},
    {"switches", {"1", "2"}},
    {"task-epilog", {"/a", "/b"}},
    {"task-prolog", {"/a", "/b"}},
    {"thread-spec", {"1", "2"}},
    {"threads-per-core", {"1", "2"}},
    {"time", {"5", "7"}},
    {"tres-bind", {"gres/gpu:single:1", "gres/gpu:single:2"}},
    {"tres-per-task", {"cpu=2", "cpu=3"}},
    {"wait", {"5", "7"}},
    {"wckey", {"a", "b"}},
    {"x11", {"first", "last"}},
};
// Their only accepted values ask for what happens anyway.
bool has_nothing_to_do(std::string_view name) {
    constexpr std::string_view kNames[] = {"profile", "threads", "wait-all-nodes"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

struct Variable {
    Tool tool;
    std::size_t row;
    std::string name;
};

std::vector<Variable> all_variables() {
    std::vector<Variable> found;
    const std::pair<Tool, const char*> prefixes[] = {
        {kSbatch, "SBATCH_"}, {kSalloc, "SALLOC_"}, {kSrun, "SLURM_"}};
    for (std::size_t row = 0; row < job_options().size(); ++row) {
        const JobOption& option = job_options()[row];
        for (const auto& [tool, prefix] : prefixes) {
            if (!option.env || !option.set || !(option.tools & option.env_tools & tool)) continue;
            found.push_back({tool, row, fmt::format("{}{}", prefix, option.env)});
        }
    }
    return found;
}

struct Given {
    std::optional<std::string_view> variable, option;
};

JobOptions read(const Variable& variable, const Given& given) {
    JobOptions options;
    auto find = [&](std::string_view name) {
        return name == variable.name ? given.variable : std::nullopt;
    };
    EXPECT_TRUE(apply_environment(options, find, variable.tool, Time{})) << variable.name;
    if (given.option) {
        GivenOption option{variable.row, {}};
        const bool is_left_out =
            job_options()[variable.row].value == nullptr ||
            (given.option->empty() && job_options()[variable.row].value[0] == '[');
        if (!is_left_out) option.value = std::string(*given.option);
        EXPECT_TRUE(apply_options(options, {option}, Source::CommandLine, variable.tool, Time{}))
            << variable.name;
    }
    options.sources.clear();
    options.values.clear();
    return options;
}

TEST(JobVariables, DoWhatTheirOptionsDo) {
    for (const Variable& variable : all_variables()) {
        const JobOption& option = job_options()[variable.row];
        if (has_nothing_to_do(option.name)) continue;
        if (option.value && !kSamples.contains(option.name) && option.name != "requeue") {
            ADD_FAILURE() << option.name << " needs samples in this test";
            continue;
        }
        const bool has_samples = kSamples.contains(option.name) && option.value;
        const std::string_view value = has_samples ? kSamples.at(option.name).one : "1";
        const JobOptions by_variable = read(variable, {.variable = value});
        EXPECT_NE(by_variable, JobOptions{}) << variable.name << " has no effect";
        const std::string_view typed = option.name == "requeue" ? "" : value;
        EXPECT_EQ(by_variable, read(variable, {.option = typed})) << variable.name;
    }
}

TEST(JobVariables, GiveWayToTheOption) {
    for (const Variable& variable : all_variables()) {
        auto samples = kSamples.find(job_options()[variable.row].name);
        if (samples == kSamples.end() || !job_options()[variable.row].value) continue;
        const auto& [one, two] = samples->second;
        EXPECT_EQ(read(variable, {.variable = one, .option = two}), read(variable, {.option = two}))
            << variable.name;
    }
}

// Two more names of the same options, which only srun knows.
TEST(JobVariables, SecondNames) {
    struct Alias {
        Tool tool;
        const char* name;
        std::string_view value;
        bool (*holds)(const JobOptions&);
    };
    const Alias aliases[] = {
        {kSrun, "SLURM_NPROCS", "3", [](auto& o) { return o.request.shape.ntasks == 3u; }},
        {kSrun, "SLURM_NNODES", "3", [](auto& o) { return o.request.shape.nodes_min == 3u; }},
        {kSrun, "SLURM_JOBID", "3", [](auto& o) { return o.job_id == "3"; }},
        {kSrun, "SLURM_WORKING_DIR", "/x", [](auto& o) { return o.request.work_dir == "/x"; }},
        {kSrun, "SLURM_STEP_GRES", "gpu:1", [](auto& o) { return o.gres.size() == 1; }},
        {kSrun, "SLURM_EXPORT_ENV", "NONE", [](auto& o) { return o.export_list == "NONE"; }},
        {kSrun, "SRUN_EXPORT_ENV", "NONE", [](auto& o) { return o.export_list == "NONE"; }},
        {kSrun, "SRUN_OUTPUT", "x", [](auto& o) { return o.request.std_out == "x"; }},
        {kSrun, "SRUN_ERROR", "x", [](auto& o) { return o.request.std_err == "x"; }},
        {kSrun, "SRUN_INPUT", "x", [](auto& o) { return o.request.std_in == "x"; }},
        {kSbatch, "SLURM_HINT", "nomultithread", [](auto& o) { return !o.hint.empty(); }},
        {kSalloc, "SLURM_HINT", "nomultithread", [](auto& o) { return !o.hint.empty(); }},
        {kSbatch, "SBATCH_WAIT4SWITCH", "5",
         [](auto& o) { return o.request.shape.switches_wait != Seconds{0}; }},
        {kSalloc, "SALLOC_WAIT4SWITCH", "5",
         [](auto& o) { return o.request.shape.switches_wait != Seconds{0}; }},
        {kSrun, "SLURM_WAIT4SWITCH", "5",
         [](auto& o) { return o.request.shape.switches_wait != Seconds{0}; }},
    };
    for (const Alias& alias : aliases) {
        const JobOptions options = read({alias.tool, 0, alias.name}, {.variable = alias.value});
        EXPECT_TRUE(alias.holds(options)) << alias.name;
    }
}

}  // namespace
}  // namespace sluice

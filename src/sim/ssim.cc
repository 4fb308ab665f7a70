#include "sim/ssim.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "config/settings.h"
#include "model/errors.h"
#include "model/version.h"
#include "sim/faults.h"
#include "sim/options.h"
#include "sim/report.h"

namespace sluice {
namespace {

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

int fail(std::string_view text) {
    std::fflush(stdout);
    fmt::print(stderr, "ssim: error: {}\n", text);
    return 1;
}

Result<void> write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) return Error{ErrorCode::SystemError, fmt::format("{}: cannot be written", path)};
    return {};
}

Result<Settings> settings_in(const std::string& path) {
    Config config = TRY(load_config(path));
    for (const std::string& warning : new_warnings(config, nullptr))
        fmt::print(stderr, "ssim: warning: {}\n", warning);
    Settings settings = TRY(settings_from(config, UserId{0}));
    settings.has_controller_prolog = false;  // no program runs in virtual time
    settings.prolog_rules = {};
    return settings;
}

// A line that overwrites itself, for people only.
World::Progress progress_line() {
    if (isatty(STDERR_FILENO) == 0) return {};
    return [](std::size_t ended, std::size_t all) {
        fmt::print(stderr, "\r{} of {} jobs", ended, all);
        std::fflush(stderr);
    };
}

struct SimPolicy {
    QosDefinitions qos;
    std::string dump;  // the text of a file of sacctmgr dump
};

Result<SimPolicy> policy_in(const SimOptions& options) {
    SimPolicy policy;
    if (!options.qos_file.empty())
        policy.qos = TRY(parse_qos_table(options.qos_file, TRY(read_text(options.qos_file))));
    if (!options.policy_file.empty()) policy.dump = TRY(read_text(options.policy_file));
    return policy;
}

Result<Outcome> simulate(Settings settings, const Trace& trace, const SimPolicy& policy) {
    World::Progress progress = progress_line();
    World world(std::move(settings), trace, progress);
    TRY(world.set_qos(policy.qos));
    if (!policy.dump.empty()) TRY(world.load_policy(policy.dump));
    Outcome outcome = world.run();
    if (progress) fmt::print(stderr, "\r\033[K");
    return outcome;
}

Result<int> run(const SimOptions& options) {
    Settings settings =
        options.confs.empty()
            ? plain_settings(options.nodes, std::max(options.cpus, 1u), options.gpus)
            : TRY(settings_in(options.confs.front()));
    Trace trace = TRY(read_trace(options.trace, options.format));
    const SimPolicy policy = TRY(policy_in(options));
    Outcome outcome = TRY(simulate(std::move(settings), trace, policy));
    Summary summary = summary_of(trace, outcome);
    if (!options.csv_file.empty())
        TRY(write_file(options.csv_file, print_jobs_csv(trace, outcome)));
    if (!options.html_file.empty()) {
        std::string title = std::filesystem::path(options.trace).filename().string();
        TRY(write_file(options.html_file, print_html(title, trace, outcome, summary)));
    }
    print(print_summary(summary) + print_left_out(trace));
    return 0;
}

Result<int> compare(const SimOptions& options) {
    Trace trace = TRY(read_trace(options.trace, options.format));
    std::vector<Settings> settings;
    for (const std::string& conf : options.confs) settings.push_back(TRY(settings_in(conf)));
    const SimPolicy policy = TRY(policy_in(options));
    std::vector<Named> summaries;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        Outcome outcome = TRY(simulate(std::move(settings[i]), trace, policy));
        std::string name = std::filesystem::path(options.confs[i]).filename().string();
        summaries.push_back({std::move(name), summary_of(trace, outcome)});
    }
    // The same file name in two folders says nothing: number them.
    for (std::size_t i = 0; i < summaries.size(); ++i) {
        if (i > 0 && summaries[i].name == std::filesystem::path(options.confs[0]).filename()) {
            summaries[i].name += fmt::format("({})", i + 1);
        }
    }
    print(print_comparison(summaries) + print_left_out(trace));
    return 0;
}

Result<int> write_trace(const SimOptions& options) {
    Trace trace = generate(options.generate);
    bool swf = options.generate.format == TraceFormat::Swf;
    print(swf ? print_swf(trace, options.generate) : print_gpu_csv(trace));
    return 0;
}

Result<int> faults(const SimOptions& options) {
    FaultRuns runs{.first = options.seed_first, .last = options.seed_last};
    if (options.nodes > 0) runs.nodes = options.nodes;
    if (options.jobs > 0) runs.jobs = options.jobs;
    runs.print_events = options.print_events;
    if (options.trace.empty()) return run_faults(runs, stdout);
    return replay_faults(options.trace, options.print_events, stdout);
}

Result<int> perform(const SimOptions& options) {
    switch (options.command) {
        case SimCommand::Run:
            return run(options);
        case SimCommand::Compare:
            return compare(options);
        case SimCommand::Generate:
            return write_trace(options);
        case SimCommand::Faults:
            return faults(options);
        case SimCommand::None:
            break;
    }
    return Error{ErrorCode::NotSupported, "no such command"};
}

}  // namespace

int run_ssim(const std::vector<std::string>& args) {
    Result<SimOptions> options = parse_sim_options(args);
    if (!options) {
        int code = fail(options.error().detail);
        fmt::print(stderr, "Try \"ssim --help\" for more information\n");
        return code;
    }
    if (options->help) return print(sim_help()), 0;
    if (options->version) return print(fmt::format("{}\n", kVersionLine)), 0;
    Result<int> code = perform(*options);
    if (!code) return fail(to_string(code.error()));
    if (std::fflush(stdout) != 0) return fail("standard output cannot be written");
    return *code;
}

}  // namespace sluice

#include "cli/seff/seff.h"

#include "base/text.h"
#include "cli/common/ask_accounting.h"
#include "cli/common/listing.h"
#include "cli/seff/efficiency.h"
#include "model/accounting_question.h"
#include "model/errors.h"
#include "model/times.h"
#include "os/user.h"
#include "surface/arguments.h"

namespace sluice {

namespace {

constexpr int kNotFound = 2;  // Compat: the exit code of seff for a job that does not exist

enum Option : std::size_t { kHelp, kVersion };

struct Row {
    OptionSpelling spelling;
    const char* help;
};
constexpr Row kOptions[] = {
    {{"help", 'h', Argument::None, kHelp}, "show this text"},
    {{"version", 'V', Argument::None, kVersion}, "print the version and exit"},
};

// "1.50 GB"
std::string size_text(double kilobytes) {
    constexpr std::string_view kUnits[] = {"KB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    for (; kilobytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) kilobytes /= 1024;
    return fmt::format("{:.2f} {}", kilobytes, kUnits[unit]);
}

// The number where there is no name.
std::string user_name(UserId id) {
    const std::optional<User> user = find_user(id.value);
    return user ? user->name : fmt::format("{}", id.value);
}

double percent(double part, double all) {
    return all > 0 ? 100 * part / all : 0;
}

class Report {
public:
    Report(const AccountedRun& run, Time now)
        : run_(run), job_(run.job), used_(efficiency_of(run, now)) {}

    std::string text() {
        add_identity();
        if (!job_.start) {
            out_ += fmt::format("Efficiency not available for jobs in the {} state.\n",
                                state_name(job_.state));
            return std::move(out_);
        }
        add_usual_lines();
        add_gpus();
        add_time_limit();
        if (!job_.end) {
            out_ += fmt::format("WARNING: Efficiency statistics may be misleading for {} jobs.\n",
                                state_name(job_.state));
        } else {
            add_suggestion();
        }
        return std::move(out_);
    }

private:
    void add_identity() {
        out_ += fmt::format("Job ID: {}\n", job_.job.value);
        if (job_.array_job && job_.array_task) {
            out_ += fmt::format("Array Job ID: {}_{}\n", job_.array_job->value, *job_.array_task);
        }
        out_ += fmt::format("Cluster: {}\nUser/Group: {}/{}\n", run_.cluster, user_name(job_.user),
                            group_name(job_.group.value));
        const bool has_exit = job_.end.has_value();
        out_ += fmt::format("State: {}", state_name(job_.state));
        if (has_exit) out_ += fmt::format(" (exit code {})", job_.exit.code);
        out_ += '\n';
    }

    // Compat: these lines are read by programs.
    void add_usual_lines() {
        if (used_.cpus == 1) {
            out_ += "Cores: 1\n";
        } else {
            out_ += fmt::format("Nodes: {}\nCores per node: {}\n", used_.nodes,
                                used_.cpus / std::max<std::uint64_t>(1, used_.nodes));
        }
        const Seconds core_time{used_.elapsed.count() * static_cast<std::int64_t>(used_.cpus)};
        out_ += fmt::format("CPU Utilized: {}\n", print_duration(used_.cpu_used));
        out_ += fmt::format("CPU Efficiency: {:.2f}% of {} core-walltime\n",
                            percent(static_cast<double>(used_.cpu_used.count()),
                                    static_cast<double>(core_time.count())),
                            print_duration(core_time));
        out_ += fmt::format("Job Wall-clock time: {}\n", print_duration(used_.elapsed));
        out_ +=
            fmt::format("Memory Utilized: {}{}\n", size_text(static_cast<double>(used_.memory_kb)),
                        used_.memory_is_sum ? " (estimated maximum)" : "");
        const double allocated = static_cast<double>(used_.memory_allocated_mb) * 1024;
        out_ += fmt::format("Memory Efficiency: {:.2f}% of {}\n",
                            percent(static_cast<double>(used_.memory_kb), allocated),
                            size_text(allocated));
    }

    void add_gpus() {
        if (used_.gpus == 0) return;
        const std::string count = fmt::format("{} GPU{}", used_.gpus, used_.gpus == 1 ? "" : "s");
        if (used_.gpu_use) return add_sampled_gpus(*used_.gpu_use, count);
        if (!used_.gpu_percent) {
            out_ += fmt::format("GPU Efficiency: not measured, {}\n", count);
            return;
        }
        out_ += fmt::format("GPU Efficiency: {:.2f}% of {}\nGPU Memory Utilized: {}\n",
                            *used_.gpu_percent, count,
                            size_text(static_cast<double>(used_.gpu_memory_kb)));
    }

    void add_sampled_gpus(const GpuSummary& all, const std::string& count) {
        const GpuUse& use = all.use;
        const auto samples = static_cast<double>(use.samples);
        constexpr double kKilobytes = 1024;
        out_ +=
            fmt::format("GPU Efficiency: {:.2f}% of {}\nGPU Utilization: mean {:.0f}%, peak {}%\n",
                        static_cast<double>(use.percent_sum) / samples, count,
                        static_cast<double>(use.percent_sum) / samples, use.percent_most);
        out_ += fmt::format("GPU Memory Utilized: mean {}, peak {} of {} per GPU\n",
                            size_text(static_cast<double>(use.memory_sum) / samples * kKilobytes),
                            size_text(static_cast<double>(use.memory_most) * kKilobytes),
                            size_text(static_cast<double>(use.memory_all) * kKilobytes));
    }

    void add_time_limit() {
        if (job_.time_limit.unlimited()) return;
        const Seconds limit = job_.time_limit.length();
        out_ += fmt::format(
            "Time Efficiency: {:.2f}% of {} limit\n",
            percent(static_cast<double>(used_.elapsed.count()), static_cast<double>(limit.count())),
            print_duration(limit));
    }

    void add_suggestion() {
        const std::string options = suggestion_for(run_, used_);
        if (!options.empty()) out_ += fmt::format("Suggested request: {}\n", options);
    }

    const AccountedRun& run_;
    const AccountedJob& job_;
    const Efficiency used_;
    std::string out_;
};

std::string help_text() {
    return fmt::format(
        "Usage: seff [OPTIONS] JOBID...\n"
        "Shows how much of its CPUs, memory, GPUs and time a job used.\n{}",
        help_lines(seff_option_help(), 20));
}

// Nothing: a word is no job, and an error has been printed.
std::optional<std::vector<std::string>> jobs_in(const std::vector<std::string>& operands,
                                                const Invocation& invocation, Streams& streams) {
    std::vector<std::string> jobs;
    for (const std::string& operand : operands) {
        for (const std::string& word : split_list(operand)) {
            const Result<JobRef> ref = parse_job_ref(word);
            if (!ref || ref->step) {
                print_error(streams, invocation, fmt::format("Invalid job id specified: {}", word));
                return {};
            }
            jobs.push_back(word);
        }
    }
    return jobs;
}

// One job, or the tasks of an array.
int show_job(Time now, const std::string& job, Client& client, const Invocation& invocation,
             Streams& streams, std::string& separator) {
    AccountingQuestion question{.kind = AccountingQuestion::Kind::Jobs};
    question.jobs.jobs = {job};
    const Result<std::vector<AccountedRun>> runs = ask_rows<AccountedRun>(client, question);
    if (!runs) {
        print_error(streams, invocation, fmt::format("{}: {}", job, to_string(runs.error())));
        return 1;
    }
    if (runs->empty()) {
        print_error(streams, invocation, fmt::format("{}: Job not found.", job));
        return kNotFound;
    }
    for (const AccountedRun& run : *runs) {
        streams.out(separator + Report(run, now).text());
        separator = "\n";
    }
    return 0;
}

}  // namespace

std::vector<OptionHelp> seff_option_help() {
    std::vector<OptionHelp> all;
    for (const Row& row : kOptions) {
        all.push_back({.name = row.spelling.name, .letter = row.spelling.letter, .text = row.help});
    }
    return all;
}

int run_seff_at(Time now, const Invocation& invocation, Client& client, Streams& streams) {
    std::vector<OptionSpelling> spellings;
    for (const Row& row : kOptions) spellings.push_back(row.spelling);
    const Result<Arguments> given =
        parse_arguments(invocation.args, spellings, OptionsEnd::Nowhere);
    if (!given) {
        print_usage_error(streams, invocation, given.error());
        return 1;
    }
    for (const GivenOption& option : given->options) {
        option.id == kHelp ? streams.out(help_text()) : print_version(streams);
        return 0;
    }
    const std::optional<std::vector<std::string>> jobs =
        jobs_in(given->operands, invocation, streams);
    if (!jobs) return 1;
    if (jobs->empty()) {
        print_error(streams, invocation, "No job id was given");
        streams.err(help_text());
        return 1;
    }
    if (!has_configuration(invocation, client, streams)) return 1;
    int exit_code = 0;
    std::string separator;
    for (const std::string& job : *jobs) {
        exit_code = std::max(exit_code, show_job(now, job, client, invocation, streams, separator));
    }
    return exit_code;
}

int run_seff(const Invocation& invocation, Client& client, Streams& streams) {
    return run_seff_at(current_time(), invocation, client, streams);
}

}  // namespace sluice

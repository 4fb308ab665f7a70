#include "sim/report.h"

#include <fmt/format.h>

#include "model/times.h"

namespace sluice {
namespace {

std::string duration(double seconds) {
    return print_duration(Seconds{static_cast<std::int64_t>(seconds + 0.5)});
}

std::string percent(double share) {
    return fmt::format("{:.1f} %", share * 100);
}

void print_groups(std::string& text, std::string_view title, const std::vector<Group>& groups,
                  bool gpus) {
    text += fmt::format("\n{:<16} {:>8} {:>12} {:>12} {:>12} {:>9} {:>11}", title, "jobs",
                        "mean wait", "median wait", "p95 wait", "slowdown", "CPU hours");
    text += gpus ? fmt::format(" {:>11}\n", "GPU hours") : "\n";
    for (const Group& group : groups) {
        text += fmt::format("{:<16} {:>8} {:>12} {:>12} {:>12} {:>9.2f} {:>11.1f}", group.name,
                            group.jobs, duration(group.wait_mean), duration(group.wait_median),
                            duration(group.wait_p95), group.slowdown_mean, group.cpu_hours);
        text += gpus ? fmt::format(" {:>11.1f}\n", group.gpu_hours) : "\n";
    }
}

// What the comparison shows, a row each.
struct Measure {
    std::string_view name;
    double (*value)(const Summary&);
    std::string (*print)(double);
};

std::string plain(double value) {
    return fmt::format("{:.2f}", value);
}
std::string whole(double value) {
    return fmt::format("{:.0f}", value);
}

// clang-format off
constexpr Measure kMeasures[] = {
    {"jobs run",        [](const Summary& s) { return static_cast<double>(s.all.jobs); },       whole},
    {"makespan",        [](const Summary& s) { return s.makespan; },                            duration},
    {"CPU use",         [](const Summary& s) { return s.cpu_use; },                             percent},
    {"GPU use",         [](const Summary& s) { return s.gpu_use; },                             percent},
    {"mean wait",       [](const Summary& s) { return s.all.wait_mean; },                       duration},
    {"median wait",     [](const Summary& s) { return s.all.wait_median; },                     duration},
    {"p95 wait",        [](const Summary& s) { return s.all.wait_p95; },                        duration},
    {"mean slowdown",   [](const Summary& s) { return s.all.slowdown_mean; },                   plain},
    {"timed out",       [](const Summary& s) { return static_cast<double>(s.timed_out); },      whole},
    {"refused",         [](const Summary& s) { return static_cast<double>(s.refused); },        whole},
    {"never started",   [](const Summary& s) { return static_cast<double>(s.never_started); },  whole},
    {"preemptions",     [](const Summary& s) { return static_cast<double>(s.preemptions); },    whole},
    {"cut short",       [](const Summary& s) { return static_cast<double>(s.cut_short); },      whole},
    {"CPU hours lost",  [](const Summary& s) { return s.cpu_hours_lost; },                      plain},
};
// clang-format on

std::string ratio(double value, double first) {
    if (value == first) return "1.00";
    return first == 0 ? "-" : fmt::format("{:.2f}", value / first);
}

void compare_row(std::string& text, std::string_view name, const std::vector<double>& values,
                 std::string (*print)(double)) {
    text += fmt::format("{:<24} {:>16}", name, print(values.front()));
    for (std::size_t i = 1; i < values.size(); ++i) {
        text += fmt::format(" {:>16} {:>7}", print(values[i]), ratio(values[i], values.front()));
    }
    text += '\n';
}

const Group* find_group(const std::vector<Group>& groups, std::string_view name) {
    for (const Group& group : groups) {
        if (group.name == name) return &group;
    }
    return nullptr;
}

// Mean waits of each group that ran under the first configuration.
void compare_groups(std::string& text, const std::vector<Named>& summaries,
                    std::vector<Group> Summary::*groups) {
    for (const Group& group : summaries.front().summary.*groups) {
        std::vector<double> waits;
        for (const Named& named : summaries) {
            const Group* found = find_group(named.summary.*groups, group.name);
            waits.push_back(found ? found->wait_mean : 0);
        }
        compare_row(text, "  wait, " + group.name, waits, duration);
    }
}

}  // namespace

std::string print_summary(const Summary& summary) {
    std::string text;
    auto line = [&](std::string_view name, const std::string& value) {
        text += fmt::format("{:<24} {}\n", name, value);
    };
    line("jobs", fmt::format("{} ({} ran)", summary.submitted, summary.all.jobs));
    line("makespan", duration(summary.makespan));
    line("CPU use", percent(summary.cpu_use));
    if (summary.has_gpus) line("GPU use", percent(summary.gpu_use));
    line("wait", fmt::format("mean {}, median {}, p95 {}", duration(summary.all.wait_mean),
                             duration(summary.all.wait_median), duration(summary.all.wait_p95)));
    line("bounded slowdown", fmt::format("mean {:.2f}", summary.all.slowdown_mean));
    line("timed out", fmt::format("{}", summary.timed_out));
    line("preemptions",
         fmt::format("{}, {:.1f} CPU hours lost, {} jobs did not run again", summary.preemptions,
                     summary.cpu_hours_lost, summary.cut_short));
    if (summary.refused > 0) {
        line("refused", fmt::format("{}, the first: {}", summary.refused, summary.first_refusal));
    }
    if (summary.never_started > 0) line("never started", fmt::format("{}", summary.never_started));
    if (summary.moved > 0) {
        line("moved",
             fmt::format("{} jobs of unknown partitions ran in the default one", summary.moved));
    }
    print_groups(text, "account", summary.accounts, summary.has_gpus);
    print_groups(text, "size", summary.sizes, summary.has_gpus);
    return text;
}

std::string print_comparison(const std::vector<Named>& summaries) {
    std::string text = fmt::format("{:<24} {:>16}", "", summaries.front().name);
    for (std::size_t i = 1; i < summaries.size(); ++i) {
        text += fmt::format(" {:>16} {:>7}", summaries[i].name, "ratio");
    }
    text += '\n';
    for (const Measure& measure : kMeasures) {
        std::vector<double> values;
        for (const Named& named : summaries) values.push_back(measure.value(named.summary));
        compare_row(text, measure.name, values, measure.print);
    }
    compare_groups(text, summaries, &Summary::accounts);
    compare_groups(text, summaries, &Summary::sizes);
    return text;
}

std::string print_left_out(const Trace& trace) {
    if (trace.skipped == 0) return "";
    return fmt::format("\nleft out: {} records of jobs that never ran or do not say with what\n",
                       trace.skipped);
}

std::string print_jobs_csv(const Trace& trace, const Outcome& outcome) {
    std::string text =
        "job,account,user,partition,submit,start,end,wait,slowdown,cpus,gpus,nodes,state,"
        "preemptions,cpu_seconds_lost\n";
    auto time = [](std::optional<Time> moment) {
        return moment ? fmt::format("{}", to_unix(*moment)) : std::string();
    };
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const TraceJob& job = trace.jobs[i];
        const JobOutcome& result = outcome.jobs[i];
        bool ran = result.start && result.end;
        text += fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", job.name, job.account, job.user,
            job.partition, to_unix(job.submit), time(result.start), time(result.end),
            ran ? fmt::format("{:.0f}", wait_of(job, result)) : "",
            ran ? fmt::format("{:.3f}", slowdown_of(job, result)) : "", result.cpus, result.gpus,
            result.nodes, result.refusal.empty() ? state_name(result.state) : "REFUSED",
            result.preemptions, result.cpu_seconds_lost);
    }
    return text;
}

}  // namespace sluice

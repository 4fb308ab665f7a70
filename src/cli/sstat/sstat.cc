#include "cli/sstat/sstat.h"

#include <algorithm>

#include "cli/common/listing.h"
#include "cli/sstat/ask.h"
#include "cli/sstat/fields.h"
#include "cli/sstat/options.h"
#include "model/errors.h"

namespace sluice {

namespace {

constexpr std::size_t kStepsAtATime = 64;  // the answer of a slurmd must fit into a socket

class Sstat {
public:
    Sstat(const Invocation& invocation, const SstatOptions& options, Client& client,
          Streams& streams)
        : invocation_(invocation), options_(options), client_(client), streams_(streams) {}

    int run(const std::vector<SstatColumn>& columns) {
        std::vector<ReportHead> heads;
        for (const SstatColumn& column : columns) heads.push_back(column.head);
        ReportText report(std::move(heads), options_.bars);
        if (!options_.no_header) report.add_header();
        for (const JobRef& job : options_.jobs) {
            for (const StepUsageNow& step : usage_of(job)) add_lines(columns, step, report);
        }
        streams_.out(report.take());
        return exit_code_;
    }

private:
    void fail(const std::string& text) {
        print_error(streams_, invocation_, text);
        exit_code_ = exit_code_for_error(invocation_);
    }

    // The steps that are meant, of those that run. Compat: that a step does not run is told, and is
    // no failure.
    std::vector<RunningStep> steps_of(const JobRef& job) {
        const Looks looks = looks_for(invocation_, client_, current_time());
        Result<std::vector<RunningStep>> steps = fetch_steps(client_, job, looks);
        JobRef whole = job;
        whole.step.reset();
        const std::string name = to_string(whole);
        if (!steps && steps.error().code != ErrorCode::InvalidJobId) {
            fail(
                fmt::format("couldn't get steps for JobId={}: {}", name, to_string(steps.error())));
            return {};
        }
        if (!steps || steps->empty()) {
            print_error(streams_, invocation_,
                        fmt::format("couldn't get steps for JobId={}", name));
            return {};
        }
        if (job.step) {
            std::erase_if(*steps, [&](const RunningStep& each) { return each.step != *job.step; });
            if (steps->empty()) {
                print_error(streams_, invocation_,
                            fmt::format("StepId={} not found running.", to_string(job)));
            }
        } else if (!options_.all_steps) {
            keep_lowest(*steps, name);
        }
        return *std::move(steps);
    }

    void keep_lowest(std::vector<RunningStep>& steps, const std::string& job) {
        std::erase_if(steps, [](const RunningStep& each) {
            return each.step.value >= kInteractiveStep.value;
        });
        if (steps.empty()) {
            print_info(
                streams_, invocation_,
                fmt::format("JobId={} runs no numbered step; see {}.batch, or use --allsteps", job,
                            job));
        } else {
            steps.resize(1);
        }
    }

    std::vector<StepUsageNow> usage_of(const JobRef& job) {
        std::vector<StepUsageNow> all;
        std::vector<RunningStep> steps = steps_of(job);
        while (!steps.empty()) {  // an array may be named: steps of several jobs
            const JobId first = steps.front().job;
            std::vector<RunningStep> same;
            while (!steps.empty() && steps.front().job == first && same.size() < kStepsAtATime) {
                same.push_back(std::move(steps.front()));
                steps.erase(steps.begin());
            }
            Result<std::vector<StepUsageNow>> usage = fetch_usage(
                client_, same,
                [&](const std::string& node) {
                    if (options_.verbose) {
                        print_info(streams_, invocation_, fmt::format("asking node {}", node));
                    }
                },
                [&](const Error& error) {
                    fail(fmt::format("StepId={}: {}", same.front().id, to_string(error)));
                });
            if (!usage) {
                fail(fmt::format("StepId={}: {}", same.front().id, to_string(usage.error())));
                continue;
            }
            std::move(usage->begin(), usage->end(), std::back_inserter(all));
        }
        return all;
    }

    void add_lines(const std::vector<SstatColumn>& columns, const StepUsageNow& step,
                   ReportText& report) const {
        const UnitStyle style{.convert = !options_.no_convert, .disk_in_megabytes = false};
        const auto add = [&](const StepUsageNow& shown) {
            report.add_line([&](std::size_t i, std::string& out) {
                out += sstat_text(columns[i].field, shown, style);
            });
        };
        if (!options_.pids) return add(step);
        for (const PartUsage& part : step.parts) {
            StepUsageNow one = step;
            one.step.nodes = part.node;
            one.parts = {part};
            add(one);
        }
    }

    const Invocation& invocation_;
    const SstatOptions& options_;
    Client& client_;
    Streams& streams_;
    int exit_code_ = 0;
};

}  // namespace

int run_sstat(const Invocation& invocation, Client& client, Streams& streams) {
    int exit_code = 0;
    const std::optional<SstatOptions> options = parse_sstat_options(invocation, streams, exit_code);
    if (!options) return exit_code;
    const std::string format =
        options->format.value_or(std::string(options->pids ? kSstatPids : kSstatDefault));
    const Result<std::vector<SstatColumn>> columns = sstat_columns(format);
    if (!columns) {
        print_error(streams, invocation, columns.error().detail);
        return 1;
    }
    if (!has_configuration(invocation, client, streams)) return 1;
    return Sstat(invocation, *options, client, streams).run(*columns);
}

}  // namespace sluice

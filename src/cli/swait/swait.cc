#include "cli/swait/swait.h"

#include <optional>
#include <string>

#include "base/text.h"
#include "cli/common/find_job.h"
#include "cli/common/option_table.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "model/sizes.h"

namespace sluice {

namespace {

constexpr int kTimedOut = 1, kFailed = 2;
constexpr std::string_view kWaitOperands = "[JOB]";

enum WaitOption : std::size_t { kQuiet, kTimeout, kTellMore };

// clang-format off
constexpr ToolOption kWaitOptions[] = {
    {{"quiet",   'Q', Argument::None,     kQuiet},         nullptr,   nullptr, "print errors only"},
    {{"timeout", 0,   Argument::Required, kTimeout},       "seconds", nullptr, "wait so long at most; 0: without an end"},
    {{"verbose", 'v', Argument::None,     kTellMore},      nullptr,   nullptr, "print what is waited for"},
    {{"help",    'h', Argument::None,     kHelpOption},    nullptr,   nullptr, "show this text"},
    {{"usage",   0,   Argument::None,     kUsageOption},   nullptr,   nullptr, "show a brief usage text"},
    {{"version", 'V', Argument::None,     kVersionOption}, nullptr,   nullptr, "print the version and exit"},
};
// clang-format on

struct WaitDemand {
    std::string job;
    Seconds timeout{0};
    bool quiet = false, verbose = false;
};

Result<Seconds> timeout_in(const std::string& value) {
    const std::optional<std::uint64_t> seconds = to_number(value);
    if (seconds && *seconds <= sizes::kCount) return Seconds{static_cast<std::int64_t>(*seconds)};
    return Error{ErrorCode::BadArgument,
                 fmt::format("Invalid --timeout={}: expected a number of seconds", value)};
}

Result<WaitDemand> demand_in(const Arguments& given, const Environment& environment) {
    WaitDemand demand;
    for (const GivenOption& option : given.options) {
        if (option.id == kTimeout) demand.timeout = TRY(timeout_in(*option.value));
        demand.quiet = demand.quiet || option.id == kQuiet;
        demand.verbose = demand.verbose || option.id == kTellMore;
    }
    if (demand.quiet && demand.verbose)
        return Error{ErrorCode::BadArgument, "--quiet and --verbose exclude each other"};
    if (given.operands.size() > 1)
        return Error{ErrorCode::BadArgument, "One job can be named: swait [JOB]"};
    if (!given.operands.empty()) {
        demand.job = given.operands[0];
    } else if (const auto job = environment.find("SLURM_JOB_ID")) {
        demand.job = *job;
    } else {
        return Error{ErrorCode::BadArgument,
                     "No job was named, and there is no SLURM_JOB_ID: swait [JOB]"};
    }
    const Result<JobRef> reference = parse_job_ref(demand.job);
    if (!reference || reference->step || reference->het_component)
        return Error{ErrorCode::InvalidJobId, fmt::format("Invalid job id {}", demand.job)};
    return demand;
}

// A step that waits for the other steps of its job does not wait for itself.
void leave_own_step_out(wire::WaitJob& wait, const Environment& environment) {
    const auto job = to_number(environment.find("SLURM_JOB_ID").value_or(""));
    const auto step = to_number(environment.find("SLURM_STEP_ID").value_or(""));
    if (job == wait.job() && step && *step <= sizes::kCount)
        wait.set_own_step(static_cast<std::uint32_t>(*step));
}

}  // namespace

std::vector<OptionHelp> swait_option_help() {
    return help_of(kWaitOptions);
}

int run_swait(const Invocation& invocation, Client& client, Streams& streams) {
    const auto refuse = [&](const std::string& text) {
        print_error(streams, invocation, text);
        return kFailed;
    };
    const std::optional<Arguments> given = read_options(kWaitOptions, invocation, streams);
    if (!given) return kFailed;
    if (print_help_option(*given, kWaitOptions, kWaitOperands, invocation, streams)) return 0;
    const Result<WaitDemand> demand = demand_in(*given, invocation.environment);
    if (!demand) return refuse(demand.error().detail);
    const Result<std::uint32_t> job = find_job(demand->job, client);
    if (!job) return refuse(fmt::format("job {}: {}", demand->job, to_string(job.error())));

    wire::Request request;
    wire::WaitJob& wait = *request.mutable_wait_job();
    wait.set_job(*job);
    wait.set_until(wire::WaitJob::STEPS_ENDED);
    leave_own_step_out(wait, invocation.environment);
    if (demand->verbose)
        print_info(streams, invocation, fmt::format("waiting for the steps of job {}", *job));
    Waiting waiting;
    if (demand->timeout > Seconds{0}) waiting.give_up_after = demand->timeout;
    const Result<wire::Reply> reply = client.call(request, waiting);
    if (reply) return 0;
    const bool timed_out = waiting.give_up_after && reply.error().code == ErrorCode::Timeout;
    if (!timed_out) return refuse(fmt::format("job {}: {}", demand->job, to_string(reply.error())));
    if (!demand->quiet) {
        print_info(
            streams, invocation,
            fmt::format("job {} still has steps after {} s", demand->job, demand->timeout.count()));
    }
    return kTimedOut;
}

}  // namespace sluice

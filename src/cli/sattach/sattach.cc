#include "cli/sattach/sattach.h"

#include "cli/common/listing.h"
#include "cli/sattach/attachment.h"
#include "cli/sattach/options.h"
#include "cli/sstat/ask.h"
#include "model/errors.h"
#include "model/hostlist.h"

namespace sluice {

namespace {

Result<RunningStep> find_step(const JobRef& wanted, const Invocation& invocation, Client& client) {
    const Looks looks = looks_for(invocation, client, current_time());
    Result<std::vector<RunningStep>> steps = fetch_steps(client, wanted, looks);
    if (!steps) return steps.error();
    for (RunningStep& step : *steps) {
        if (step.step == *wanted.step) return std::move(step);
    }
    return Error{ErrorCode::InvalidStepId, ""};
}

Result<std::vector<wire::NodeAddress>> addresses_of_step(const RunningStep& step, Client& client) {
    wire::Request request;
    request.set_job_allocation(step.job.value);
    const wire::Reply reply = TRY(client.call(request));
    const Hostlist nodes = TRY(Hostlist::parse(step.nodes));
    std::vector<wire::NodeAddress> addresses;
    for (const wire::NodeAddress& each : reply.allocation().addresses()) {
        if (nodes.contains(each.name())) addresses.push_back(each);
    }
    if (addresses.empty()) return Error{ErrorCode::InvalidStepId, "no node of it is known"};
    return addresses;
}

}  // namespace

int run_sattach(const Invocation& invocation, Client& client, Streams& streams) {
    int exit_code = 0;
    const std::optional<AttachOptions> options =
        parse_attach_options(invocation, streams, exit_code);
    if (!options) return exit_code;
    if (!has_configuration(invocation, client, streams)) return exit_code_for_error(invocation);
    const auto refuse = [&](const Error& error) {
        print_error(streams, invocation,
                    fmt::format("StepId={}: {}", to_string(options->step), to_string(error)));
        return exit_code_for_error(invocation);
    };
    if (*options->step.step == kBatchStep) {
        return refuse({ErrorCode::InvalidStepId, "the streams of a batch script are files"});
    }
    if (*options->step.step == kExternStep) {
        return refuse({ErrorCode::InvalidStepId, "the step extern has no tasks"});
    }
    const Result<RunningStep> step = find_step(options->step, invocation, client);
    if (!step) return refuse(step.error());
    const Result<std::vector<wire::NodeAddress>> nodes = addresses_of_step(*step, client);
    if (!nodes) return refuse(nodes.error());
    wire::AttachStep order;
    order.set_job(step->job.value);
    order.set_step(step->step.value);
    return Attachment(*options, step->id, invocation, client, streams).run(order, *nodes);
}

}  // namespace sluice

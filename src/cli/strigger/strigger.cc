// cli/strigger/strigger.cc: see strigger.h.
#include "cli/strigger/strigger.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/strigger/options.h"
#include "model/errors.h"
#include "os/user.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

int fail(Streams& streams, std::string_view function, const Error& error) {
    streams.err(fmt::format("{}: {}\n", function, to_string(error)));
    return 1;
}

int set(const Invocation& invocation, const TriggerOptions& options, Client& client,
        Streams& streams) {
    const std::string file(words(options.request.program).front());
    struct stat status {};
    if (stat(file.c_str(), &status) != 0) {
        print_error(streams, invocation,
                    fmt::format("Invalid --program value, file not found: {}", file));
        return 1;
    }
    for (const TriggerEvent event : options.events) {
        TriggerRequest wanted = options.request;
        wanted.event = event;
        wire::Request request;
        request.set_set_trigger(encode(wanted));
        if (const auto reply = client.call(request); !reply)
            return fail(streams, "slurm_set_trigger", reply.error());
        if (options.verbose)
            print_info(streams, invocation, fmt::format("trigger set: {}", name_of(event)));
    }
    return 0;
}

int clear(const TriggerOptions& options, Client& client, Streams& streams) {
    wire::Request request;
    request.set_clear_triggers(encode(options.choice));
    const auto reply = client.call(request);
    if (reply) return 0;
    if (reply.error().code != ErrorCode::NotFound)
        return fail(streams, "slurm_clear_trigger", reply.error());
    if (options.quiet) return 0;
    streams.err("slurm_clear_trigger: No such process\n");  // Compat: no such trigger
    return 1;
}

Result<std::vector<Trigger>> fetch(const TriggerOptions& options, Client& client) {
    wire::Request request;
    request.set_show_triggers(encode(options.choice));
    const wire::Reply reply = TRY(client.call(request));
    std::vector<Trigger> found;
    for (const std::string& row : reply.rows().rows()) {
        Trigger trigger = TRY(decode_trigger(row));
        const auto& events = options.events;
        const bool fits = events.empty() || std::find(events.begin(), events.end(),
                                                      trigger.wanted.event) != events.end();
        const bool has_nodes =
            options.request.nodes.empty() || options.request.nodes == trigger.wanted.nodes;
        if (fits && has_nodes) found.push_back(std::move(trigger));
    }
    return found;
}

std::string subject_of(const TriggerRequest& wanted) {
    if (wanted.job) return fmt::to_string(wanted.job->value);
    if (!wanted.nodes.empty()) return wanted.nodes;
    return "*";
}

// Triggers of the nodes of a job have the job as their subject.
TriggerResource shown_resource(const TriggerRequest& wanted) {
    return wanted.job ? TriggerResource::Job : resource_of(wanted.event);
}

constexpr const char* kLine = "{:>7} {:<9} {:>7} {:<35} {:>6} {:<8} {:<5} {}\n";

std::string line_of(const Trigger& trigger) {
    const TriggerRequest& wanted = trigger.wanted;
    const auto user = find_user(trigger.user.value);
    return fmt::format(fmt::runtime(kLine), trigger.id, name_of(shown_resource(wanted)),
                       subject_of(wanted), name_of(wanted.event), wanted.offset.count(),
                       user ? user->name : fmt::to_string(trigger.user.value),
                       wanted.permanent ? "PERM" : "", wanted.program);
}

int get(const Invocation& invocation, const TriggerOptions& options, Client& client,
        Streams& streams) {
    const auto found = fetch(options, client);
    if (!found) return fail(streams, "slurm_get_triggers", found.error());
    if (options.verbose)
        print_info(streams, invocation, fmt::format("Read {} trigger records", found->size()));
    // Compat: no header without a trigger.
    if (!options.no_header && !found->empty()) {
        streams.out(fmt::format(fmt::runtime(kLine), "TRIG_ID", "RES_TYPE", "RES_ID", "TYPE",
                                "OFFSET", "USER", "FLAGS", "PROGRAM"));
    }
    for (const Trigger& each : *found) streams.out(line_of(each));
    return 0;
}

}  // namespace

int run_strigger(const Invocation& invocation, Client& client, Streams& streams) {
    int exit_code = 0;
    const auto options = parse_trigger_options(invocation, streams, exit_code);
    if (!options) return exit_code;
    if (!has_configuration(invocation, client, streams)) return 1;
    switch (options->verb) {
        case TriggerOptions::Verb::Set:
            return set(invocation, *options, client, streams);
        case TriggerOptions::Verb::Clear:
            return clear(*options, client, streams);
        default:
            return get(invocation, *options, client, streams);
    }
}

}  // namespace sluice

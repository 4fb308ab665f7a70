#include "cli/sdiag/sdiag.h"

#include "cli/common/listing.h"
#include "cli/sdiag/options.h"
#include "model/errors.h"
#include "model/statistics_fields.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

constexpr int kFailed = 255;  // Compat

int fail(Streams& streams, std::string_view function, const Error& error) {
    streams.err(fmt::format("{}: {}\n", function, to_string(error)));
    return kFailed;
}

Result<Statistics> fetch_statistics(Client& client) {
    wire::Request request;
    request.mutable_show_statistics();
    const wire::Reply reply = TRY(client.call(request));
    Statistics statistics;
    TRY(field_codec::get_fields(reply.statistics(), statistics));
    return statistics;
}

int reset(Client& client, Streams& streams) {
    wire::Request request;
    request.mutable_reset_statistics();
    if (const Result<wire::Reply> reply = client.call(request); !reply)
        return fail(streams, "slurm_reset_statistics", reply.error());
    streams.out("Reset scheduling statistics\n");
    return 0;
}

}  // namespace

int run_sdiag(const Invocation& invocation, Client& client, Streams& streams) {
    int exit_code = 0;
    const std::optional<SdiagOptions> options = parse_sdiag_options(invocation, streams, exit_code);
    if (!options) return exit_code;
    if (!has_configuration(invocation, client, streams)) return 1;
    if (options->reset) return reset(client, streams);
    Result<Statistics> statistics = fetch_statistics(client);
    if (!statistics) return fail(streams, "slurm_get_statistics", statistics.error());
    sort_requests(*statistics, options->order);
    if (options->json) {
        const Looks looks = looks_for(invocation, client, statistics->time);
        streams.out(statistics_json(*statistics, json_meta(invocation, looks, *options->json)));
    } else {
        streams.out(statistics_text(*statistics));
    }
    return 0;
}

}  // namespace sluice

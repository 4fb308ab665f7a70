// See ask_accounting.h.
#include "cli/common/ask_accounting.h"

namespace sluice {

Result<std::vector<std::string>> ask_accounting(Client& client,
                                                const AccountingQuestion& question) {
    // slurmdbd has several clusters: it is told which one this is.
    AccountingQuestion complete = question;
    if (const Result<const Config*> config = client.config()) {
        if (complete.cluster.empty()) complete.cluster = (*config)->cluster_name;
        if (complete.jobs.clusters.empty()) complete.jobs.clusters = {(*config)->cluster_name};
    }
    wire::Request request;
    field_codec::put_fields(complete, *request.mutable_ask_accounting());
    wire::Reply reply = TRY(client.call(request));
    if (!reply.has_rows()) return Error{ErrorCode::ProtocolError, "no rows in the answer"};
    auto& rows = *reply.mutable_rows()->mutable_rows();
    return std::vector<std::string>(std::make_move_iterator(rows.begin()),
                                    std::make_move_iterator(rows.end()));
}

void print_accounting_error(Streams& streams, const Invocation& invocation, const Error& error) {
    print_error(streams, invocation,
                fmt::format("Problem talking to the database: {}", to_string(error)));
}

}  // namespace sluice

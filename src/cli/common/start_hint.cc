#include "cli/common/start_hint.h"

#include "cli/common/job_setup.h"
#include "model/errors.h"
#include "protocol/convert.h"
#include "surface/explain.h"

namespace sluice {

Result<std::vector<Explanation>> fetch_explanations(Client& client, const std::string& job) {
    wire::Request request;
    request.set_explain(job);
    wire::Reply reply = TRY(client.call(request));
    if (!reply.has_explanations())
        return Error{ErrorCode::ProtocolError, "no explanation in the answer"};
    std::vector<Explanation> jobs;
    for (const wire::Explanation& each : reply.explanations().jobs()) {
        jobs.push_back(TRY(from_wire(each)));
    }
    return jobs;
}

std::optional<std::string> start_hint(const std::string& job, Client& client) {
    const Result<std::vector<Explanation>> answer = fetch_explanations(client, job);
    if (!answer || answer->empty()) return std::nullopt;
    return smaller_request(answer->front(), current_time());
}

}  // namespace sluice

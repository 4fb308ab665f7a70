#include "cli/common/find_job.h"

#include "model/columns.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "model/table.h"
#include "protocol/convert.h"

namespace sluice {

Result<std::uint32_t> find_job(const std::string& reference, Client& client) {
    JobRef ref = TRY(parse_job_ref(reference));
    if (!ref.tasks) return ref.job.value;
    wire::Request request;
    request.mutable_list()->set_kind(static_cast<std::uint32_t>(TableKind::Jobs));
    request.mutable_list()->add_columns(static_cast<std::uint32_t>(JobColumn::Id));
    request.mutable_list()->mutable_filter()->add_jobs(reference);
    wire::Reply reply = TRY(client.call(request));
    Table table = TRY(from_wire(reply.listing()));
    if (table.rows() != 1) return Error{ErrorCode::InvalidJobId, ""};
    return static_cast<std::uint32_t>(table.number(0, JobColumn::Id));
}

}  // namespace sluice

// See change_policy.h.
#include "cli/common/change_policy.h"

#include "policy/change_fields.h"
#include "protocol/field_codec.h"

namespace sluice {

Result<void> send_change(Client& client, const PolicyChange& change) {
    wire::Request request;
    field_codec::put_fields(change, *request.mutable_change_policy());
    TRY(client.call(request));
    return {};
}

}  // namespace sluice

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

Result<PolicyOutcome> preview(Policy& policy, const PolicyChange& change) {
    PolicyFacts facts;
    for (const TresKind& kind : policy.tres) {
        if (!kind.name.starts_with("gres/")) continue;
        const std::string name = kind.name.substr(5);
        facts.gres.push_back(name.substr(0, name.find(':')));
    }
    return apply_change(policy, change, {.name = "root", .uid = {}, .is_root = true}, facts,
                        Time{});
}

}  // namespace sluice

// See ask_policy.h.
#include "cli/common/ask_policy.h"

#include "cli/common/ask_accounting.h"
#include "model/policy_fields.h"

namespace sluice {

Result<Policy> ask_policy(Client& client) {
    AccountingQuestion question;
    question.kind = AccountingQuestion::Kind::Policy;
    std::vector<Policy> rows = TRY(ask_rows<Policy>(client, question));
    if (rows.size() != 1) return Error{ErrorCode::ProtocolError, "no policy in the answer"};
    return std::move(rows[0]);
}

std::uint32_t tres_id(const Policy& policy, std::string_view name) {
    for (const TresKind& kind : policy.tres) {
        if (kind.name == name) return kind.id;
    }
    return 0;
}

}  // namespace sluice

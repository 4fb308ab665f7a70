// controller/listings.cc
#include "controller/listings.h"

#include <fmt/format.h>

#include <algorithm>

#include "controller/replies.h"
#include "core/query/listing.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "protocol/convert.h"

namespace sluice {
namespace {

constexpr auto kTableKinds = static_cast<std::uint32_t>(TableKind::Shares) + 1;

Result<wire::Reply> listing(const Snapshot& snapshot, const wire::ListTable& question,
                            const Viewer& viewer) {
    if (question.kind() >= kTableKinds) {
        return Error{ErrorCode::NotSupported, fmt::format("listing of kind {}", question.kind())};
    }
    if (question.columns_size() > static_cast<int>(sizes::kColumnCount)) {
        return Error{ErrorCode::ProtocolError, "too many columns"};
    }
    std::vector<ColumnId> columns;
    for (std::uint32_t column : question.columns()) {
        if (column > 0xffff) {
            return Error{ErrorCode::ProtocolError, fmt::format("unknown column {}", column)};
        }
        columns.push_back(static_cast<ColumnId>(column));
    }
    const Filter filter = TRY(from_wire(question.filter()));
    const Table table =
        TRY(list_rows(snapshot, static_cast<TableKind>(question.kind()), columns, filter, viewer));
    wire::Reply reply;
    *reply.mutable_listing() = to_wire(table);
    reply.mutable_listing()->set_version(snapshot.version);
    return reply;
}

}  // namespace

Bytes Listings::answer(const Snapshot& snapshot, const wire::ListTable& question, UserId user) {
    const Viewer viewer(*snapshot.settings, user, snapshot.associations->admin_level(user));
    const auto seen_by = viewer.sees_everything() ? std::nullopt : std::optional(user);
    if (snapshot.version != version_) {
        kept_.clear();
        version_ = snapshot.version;
    }
    std::string key = question.SerializeAsString();
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
        return kept.question == key && kept.viewer == seen_by;
    });
    if (found != kept_.end()) {
        kept_.splice(kept_.begin(), kept_, found);
        return kept_.front().answer;
    }
    auto reply = listing(snapshot, question, viewer);
    if (!reply) return framed(error_reply(reply.error()));
    kept_.push_front({std::move(key), seen_by, framed_reply(*reply)});
    if (kept_.size() > kKeptMost) kept_.pop_back();
    return kept_.front().answer;
}

}  // namespace sluice

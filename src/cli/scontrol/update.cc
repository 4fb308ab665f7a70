// cli/scontrol/update.cc
//
// scontrol update: the words go to the controller as typed; it knows which keys there are.
#include <algorithm>

#include "base/text.h"
#include "cli/scontrol/session.h"
#include "cli/common/listing.h"
#include "model/errors.h"

namespace sluice {

namespace {

struct Entity {
    std::string_view key;  // any case
    wire::Update::Entity entity;
};

constexpr Entity kEntities[] = {
    {"jobid", wire::Update::JOB},
    {"job", wire::Update::JOB},
    {"nodename", wire::Update::NODE},
    {"node", wire::Update::NODE},
    {"partitionname", wire::Update::PARTITION},
    {"partition", wire::Update::PARTITION},
};

const Entity* find_entity(std::string_view key) {
    for (const Entity& each : kEntities) {
        if (equals_ignoring_case(each.key, key)) return &each;
    }
    return nullptr;
}

// What is changed may be named anywhere among the keys; then that comes first. A partition is also a
// property of jobs and reservations, and a reservation one of jobs.
Words with_entity_first(Words words) {
    if (words.size() < 2 || is_reservation_update(words)) return words;
    for (std::string_view key : {"JobId=", "NodeName=", "ReservationName=", "PartitionName="}) {
        auto named = std::find_if(words.begin() + 1, words.end(), [&](const std::string& word) {
            return equals_ignoring_case(std::string_view(word).substr(0, word.find('=') + 1), key);
        });
        if (named == words.end()) continue;
        std::rotate(words.begin() + 1, named, named + 1);
        break;
    }
    return words;
}

// "update job 12 key=value ..." and "update JobId=12 key=value ...".
Result<wire::Update> parse_update(const Words& words) {
    wire::Update update;
    std::size_t next = 1;
    const std::size_t equals = words[1].find('=');
    const Entity* entity = find_entity(std::string_view(words[1]).substr(0, equals));
    if (!entity) return Error{ErrorCode::NotFound, words[1]};
    update.set_entity(entity->entity);
    if (equals != std::string::npos) {
        update.set_name(words[1].substr(equals + 1));
        next = 2;
    } else if (words.size() > 2) {
        update.set_name(words[2]);
        next = 3;
    } else {
        return Error{ErrorCode::NotFound, words[1]};
    }
    for (; next < words.size(); ++next) {
        const std::size_t at = words[next].find('=');
        wire::KeyValue& change = *update.add_changes();
        if (equals_ignoring_case(words[next], "nice")) {  // alone it means this much
            change.set_key("Nice");
            change.set_value("100");
            continue;
        }
        if (at == std::string::npos) return Error{ErrorCode::BadArgument, words[next]};
        change.set_key(words[next].substr(0, at));
        change.set_value(words[next].substr(at + 1));
    }
    return update;
}

// Compat: the client itself insists on a reason, before the node is even looked for.
bool lacks_reason(const wire::Update& update) {
    bool needs_reason = false;
    for (const wire::KeyValue& change : update.changes()) {
        if (equals_ignoring_case(change.key(), "reason") && !change.value().empty()) return false;
        if (!equals_ignoring_case(change.key(), "state")) continue;
        needs_reason = equals_ignoring_case(change.value(), "DOWN") ||
                       equals_ignoring_case(change.value(), "DRAIN") ||
                       equals_ignoring_case(change.value(), "FAIL");
    }
    return update.entity() == wire::Update::NODE && needs_reason;
}

int report(Session& session, const wire::Update& update, const Error& error) {
    if (session.quiet) return 1;
    if (error.code == ErrorCode::BadArgument || error.code == ErrorCode::NotSupported) {
        print_error(session.streams, session.invocation, to_string(error));
    } else if (update.entity() == wire::Update::JOB) {
        session.streams.err(fmt::format("{} for job {}\n", to_string(error), update.name()));
    } else {
        print_api_error(session.streams, "slurm_update", error);
    }
    return 1;
}

}  // namespace

int update(Session& session, const Words& given) {
    const Words words = with_entity_first(given);
    if (words.size() < 2) {
        session.streams.err("too few arguments for update keyword\n");
        return 1;
    }
    if (is_reservation_update(words)) return update_reservation(session, words);
    Result<wire::Update> update = parse_update(words);
    if (!update && update.error().code == ErrorCode::NotFound) {
        session.streams.err(
            "No valid entity in update command\nInput line must include \"NodeName\", "
            "\"PartitionName\", \"Reservation\", \"JobId\", or \"SlurmctldDebug\"\n");
        return 1;
    }
    if (!update) {
        session.streams.err(
            fmt::format("Update of this parameter is not supported: {}\nRequest aborted\n",
                        update.error().detail));
        return 1;
    }
    if (lacks_reason(*update)) {
        session.streams.err(
            "You must specify a reason when DOWNING or DRAINING a node. Request denied\n");
        return 1;
    }
    wire::Request request;
    *request.mutable_update() = *update;
    Result<wire::Reply> reply = session.client.call(request);
    if (!reply) return report(session, *update, reply.error());
    int code = 0;
    for (const wire::JobResult& result : reply->results().results()) {
        if (!result.has_error()) continue;
        code = report(session, *update,
                      {static_cast<ErrorCode>(result.error().code()), result.error().detail()});
    }
    return code;
}

}  // namespace sluice
